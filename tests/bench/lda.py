"""Topic models as whole SQL statements, in CPU seconds of one thread, and scikit-learn's.

Run by `make bench`. BENCH_RUNS (3): number of runs of which medians are shown. BENCH_DOCUMENTS
(1000000): documents of the large table; 0 leaves it out. Needs python3-numpy and python3-scipy, and
python3-sklearn for the comparison.
"""
import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import statistics
import sys
import time
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "peers"))
import topics as lib

warnings.filterwarnings("ignore")
runs = int(os.environ.get("BENCH_RUNS", 3))
large = int(os.environ.get("BENCH_DOCUMENTS", 1_000_000))


def say(text, value, unit="s", note=""):
    print(f"{text:60s} {value:9.3f} {unit} {note}", flush=True)


def median_cpu(session, sql):
    return statistics.median(session.timed(sql)[1] for _ in range(runs))


def fit_cpu(session, k, options, column="words", table="synthetic"):
    return median_cpu(session, f"SELECT lda_fit({column}, {k}, '{{{options}}}') IS NULL FROM {table};")


def each(session, k, method, short, long):
    """CPU seconds of a pass, step or sweep: what a longer fit takes more than a shorter one."""
    def options(n):
        if method in ("gibbs", "collapsed"):
            return f'"method": "{method}", "draws": {n}, "warmup": {n - 1}'
        return f'"method": "{method}", "tol": 0, "max_iter": {n}'
    return (fit_cpu(session, k, options(long)) - fit_cpu(session, k, options(short))) / (long - short)


def passes_of_sklearn(x, k):
    """(CPU seconds of a batch pass, of an online pass, documents a second that transform does)"""
    from sklearn.decomposition import LatentDirichletAllocation
    n = x.shape[0]
    out = []
    for online in (False, True):
        model = LatentDirichletAllocation(k, random_state=1, total_samples=n, batch_size=256)
        model.partial_fit(x[:1])
        model._init_latent_vars(x.shape[1])
        seconds = []
        for _ in range(12 if not online else 5):
            begin = time.process_time()
            if online:
                for first in range(0, n, 256):
                    model.partial_fit(x[first:first + 256])
            else:
                model._em_step(x, total_samples=n, batch_update=True)
            seconds.append(time.process_time() - begin)
        out.append(statistics.median(seconds[-3:]))
    begin = time.process_time()
    model.transform(x[:5000])
    return *out, min(n, 5000) / (time.process_time() - begin)


def small(session):
    corpus = lib.synthetic()
    k, tokens, documents = corpus.topics, corpus.tokens / 1e6, len(corpus.train)
    session.load("synthetic", corpus.train, corpus.terms)
    session.run("""ALTER TABLE synthetic ADD counts jsonb;
      UPDATE synthetic SET counts = (SELECT jsonb_object_agg(w, n)
        FROM (SELECT w, count(*) AS n FROM unnest(words) AS w GROUP BY w) AS c);
      VACUUM FULL synthetic;""")
    print(f"{documents} documents, {corpus.tokens} tokens, {len(corpus.terms)} terms; CPU seconds of "
          f"one thread, medians of {runs} runs")
    one = '"method": "svi", "max_iter": 1'
    for column in ("words", "counts"):
        kind = {"words": "text[]", "counts": "jsonb"}[column]
        say(f"svi, one step, {kind}: reading", fit_cpu(session, k, one, column))
    vi = each(session, k, "vi", 10, 42)
    say(f"vi, K = {k}, a pass", vi, "s", f"{tokens / vi:.2f} million tokens a second")
    svi = each(session, k, "svi", 100, 400)
    say(f"svi, K = {k}, a step of 256 documents", svi, "s", f"{256 / svi:.0f} documents a second")
    for k_, short, long in ((50, 20, 80), (200, 20, 80), (1000, 10, 30)):
        for method in ("collapsed", "gibbs"):
            sweep = each(session, k_, method, short, long)
            say(f"{method}, K = {k_}, a sweep", sweep, "s",
                f"{tokens / sweep:.2f} million tokens a second")
    session.run(f"""CREATE TEMP TABLE fit AS SELECT lda_fit(words, {k},
      '{{"method": "svi", "max_iter": 200}}') AS model FROM synthetic;""")
    seconds = median_cpu(session, "SELECT sum((lda_proportions(model, words))[1]) FROM fit, synthetic;")
    say(f"lda_proportions, K = {k}, all documents", seconds, "s",
        f"{documents / seconds:.0f} documents a second")
    try:
        batch, online, transformed = passes_of_sklearn(corpus.matrix(corpus.train), k)
    except ImportError:
        print("scikit-learn is not installed (apt-get install python3-sklearn)")
        return
    say("scikit-learn, batch, a pass", batch, "s",
        f"{tokens / batch:.2f} million tokens a second; vi {batch / vi:.1f} times as fast")
    say("scikit-learn, online, a pass", online, "s",
        f"{documents / online:.0f} documents a second; svi {online / documents * 256 / svi:.1f} times")
    print(f"scikit-learn, transform: {transformed:.0f} documents a second")


def many_documents():
    """Of 20 to 100 tokens of 50,000 terms, from 100 topics."""
    rng = np.random.default_rng(7)
    v, k = 50_000, 100
    phi = rng.dirichlet(np.full(v, 0.02), k)
    line = (np.cumsum(phi / phi.sum(1, keepdims=True), 1).clip(0, 1 - 1e-9)
            + np.arange(k)[:, None]).ravel()
    for _ in range(0, large, 10_000):
        sizes = rng.integers(20, 101, 10_000)
        theta = np.cumsum(rng.dirichlet(np.full(k, 0.05), 10_000), 1)
        z = (np.repeat(theta, sizes, 0) < rng.random(sizes.sum())[:, None]).sum(1).clip(0, k - 1)
        words = np.searchsorted(line, z + rng.random(len(z)) * (1 - 1e-9)).clip(0, v * k - 1) % v
        yield from np.split(words, np.cumsum(sizes)[:-1])


def big(session):
    k = 100
    session.load("many", many_documents(), [f"w{w}" for w in range(50_000)])
    session.run("SET maintenance_work_mem = '64MB'; CREATE TABLE big_fit (model bayes_model);")
    tokens = float(session.run("SELECT sum(cardinality(words)) FROM many;")[0])
    before = session.memory()
    begin = time.perf_counter()
    _, cpu = session.timed(f"""INSERT INTO big_fit
      SELECT lda_fit(words, {k}, '{{"method": "svi"}}') FROM many;""")
    clock = time.perf_counter() - begin
    peak = session.memory()
    info = session.run("""SELECT iterations || ' steps, converged: ' || converged || ', '
      || round(seconds) || ' s (clock) of them in the fit' FROM big_fit, bayes_info(model);""")[0]
    print(f"{large} documents, {tokens / 1e6:.1f} million tokens, {k} topics, 64 MB of memory; svi:")
    say("the statement", cpu, "s", f"{clock:.0f} s by the clock; {info}")
    say("documents a second", large / cpu, "")
    say("most memory of the backend", peak, "MB", f"{before:.0f} MB before the fit")
    session.run("CREATE TEMP TABLE hundred AS SELECT words FROM many LIMIT 100000;")
    seconds = median_cpu(session, "SELECT sum((lda_proportions(model, words))[1]) FROM big_fit, hundred;")
    say("lda_proportions of 100,000 documents", seconds, "s", f"{1e5 / seconds:.0f} documents a second")


small(lib.TopicSession())
if large:
    big(lib.TopicSession())
