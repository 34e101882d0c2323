"""Non-negative factorization of a sparse table as whole SQL statements, and scikit-learn's.

Run by `make bench`. A table of 100,000 rows, 20,000 columns and 2.6 million cells that are not 0,
drawn from 20 factors; CPU seconds of one thread. BENCH_ITERATIONS (50): of every fit but those with
defaults, of which bounds are shown too; BENCH_RUNS (3): of which medians are shown; of
scikit-learn, one run of a tenth of the iterations. Needs python3-numpy and python3-scipy, and
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
import scipy.sparse

sys.path.insert(0, str(Path(__file__).parent / "peers"))
from session import Session

warnings.filterwarnings("ignore")
iterations = int(os.environ.get("BENCH_ITERATIONS", 50))
runs = int(os.environ.get("BENCH_RUNS", 3))
rows, columns, k, cells = 100_000, 20_000, 20, 2_600_000


def table():
    rng = np.random.default_rng(107)
    row_weights, column_weights = rng.gamma(0.3, 1, (k, rows)), rng.gamma(0.1, 1, (k, columns))
    keys = []
    for factor, n in enumerate(rng.multinomial(cells, np.full(k, 1 / k))):
        i = rng.choice(rows, n, p=row_weights[factor] / row_weights[factor].sum())
        j = rng.choice(columns, n, p=column_weights[factor] / column_weights[factor].sum())
        keys.append(i * columns + j)
    keys, counts = np.unique(np.concatenate(keys), return_counts=True)
    return scipy.sparse.csr_matrix((counts.astype(float), (keys // columns, keys % columns)),
                                   shape=(rows, columns))


def say(text, value, note=""):
    print(f"{text:50s} {value:9.3f} s {note}", flush=True)


x = table()
used = x[:, np.asarray(x.sum(0)).ravel() > 0]
session = Session()
session.run("CREATE TABLE cells (i int, j int, x float8);")
session.copy("cells", (f"{i}\t{j}\t{n:g}" for i, j, n in zip(*x.nonzero(), x.data)))
print(f"{rows} rows, {columns} columns, {x.nnz} cells; {k} factors, {iterations} iterations; CPU "
      f"seconds of one thread, medians of {runs} runs")
seconds = {}
_, seconds["reading"] = session.timed("SELECT count(i), count(j), sum(x) FROM cells;")
say("reading the table: count, sum", seconds["reading"])
for method in ("em", "vi", "squared"):
    for n in (1, iterations):
        seconds[method, n] = statistics.median(session.timed(
            f"""SELECT nmf_fit(i, j, x, {k}, '{{"method": "{method}", "max_iter": {n}, "tol": 0,
            "init": "random"}}') IS NULL FROM cells;""")[1] for _ in range(runs))
    whole = seconds[method, iterations]
    each = (whole - seconds[method, 1]) / (iterations - 1)
    say(f"{method}, whole statement", whole,
        f"{each:.3f} s an iteration, {x.nnz / each / 1e6:.1f} million cells a second")
for memory in ("1GB", "8MB"):
    session.run(f"SET maintenance_work_mem = '{memory}';")
    for method in ("vi", "svi"):
        found = [session.timed(
            f"""SELECT iterations, objective FROM bayes_info((SELECT nmf_fit(i, j, x, {k},
            '{{"method": "{method}"}}') FROM cells));""") for _ in range(runs)]
        count, bound = found[0][0][0].split("|")
        say(f"{method} with its defaults, {memory}", statistics.median(s for _, s in found),
            f"{count} {'steps' if method == 'svi' else 'iterations'}, bound "
            f"{float(bound) / x.nnz:.4f} a cell")
for method in ("vi", "svi"):
    held_out = session.run(
        f"""SELECT log_likelihood / cells FROM nmf_select('SELECT i, j, x FROM cells',
        ARRAY[{k}], '{{"method": "{method}"}}');""")[0]
    print(f"{method}, log-likelihood of a cell not seen: {float(held_out):.6f}", flush=True)
try:
    from sklearn.decomposition import NMF
    begin = time.process_time()
    NMF(k, init="random", solver="mu", beta_loss="kullback-leibler", tol=0, random_state=1,
        max_iter=max(1, iterations // 10)).fit(used)
    each = (time.process_time() - begin) / max(1, iterations // 10)
    ours = seconds["em", iterations] / iterations
    say("scikit-learn, multiplicative updates, an iteration", each,
        f"{each / ours:.1f} times as long as em, statement and all")
except ImportError:
    print("scikit-learn is not installed (apt-get install python3-sklearn)")
