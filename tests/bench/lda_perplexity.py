"""Perplexity of held-out documents by CPU seconds: our methods, and what of gensim, scikit-learn and
tomotopy is installed (apt-get install python3-sklearn python3-gensim; tomotopy is not in Debian).

Run by `make bench`. BENCH_ONLY: a regular expression of the rows to measure ("^(vi|collapsed)").
BENCH_CORPORA (synthetic manual). BENCH_SECONDS (120): CPU seconds for each fit of another program;
it ends before if it has converged. BENCH_RUNS (1): number of seeds, of which medians are shown.
"""
import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import re
import statistics
import sys
import time
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent / "peers"))
import topics as lib

warnings.filterwarnings("ignore")
only = os.environ.get("BENCH_ONLY", "")
limit = float(os.environ.get("BENCH_SECONDS", 120))
seeds = range(1, 1 + int(os.environ.get("BENCH_RUNS", 1)))
budgets = {"synthetic": (3, 10, 30, 100), "manual": (0.3, 1, 3, 10)}


class Stop(Exception):
    pass


class Watch:
    """The CPU seconds of a fit in this process, without those that scoring it takes. Scores after
    1, 2, 3, 4, 6, 8, ... passes, and ends the fit when the last half of all passes has gained less
    than 0.1 %, or when there is no time left."""

    def __init__(self, score):
        self.score, self.points, self.spent, self.passes, self.next = score, [], 0.0, 0.0, 1.0
        self.begin = time.process_time()

    def after(self, passes, model):
        """`model`: gives (topics, alpha)."""
        self.passes += passes
        now = time.process_time() - self.begin - self.spent
        if self.passes < self.next and now < limit:
            return
        self.next = max(self.passes + 1, self.passes * 1.4)
        self.points.append((now, self.score(*model()), self.passes))
        self.spent = time.process_time() - self.begin - now
        before = [p for _, p, n in self.points if n <= self.passes / 2]
        settled = len(self.points) > 8 and before and self.points[-1][1] > 0.999 * min(before[-2:])
        if now >= limit or settled:
            raise Stop


def rows_of(numbers):
    numbers = np.asarray(numbers, float)
    return numbers / numbers.sum(1, keepdims=True)


# ---- ours ----

def ours(session, corpus, score, method, seed):
    """Fits of different lengths, each a statement that reads the table; without options they are as
    long as by default."""
    if method in ("gibbs", "collapsed"):
        lengths = [f'"draws": {n}, "warmup": {n // 2}' for n in (20, 60, 200, 500, 2000)]
    else:
        lengths = [f'"max_iter": {n}'
                   for n in ((25, 50, 100, 200, 400) if method == "svi" else (5, 10, 20, 40, 80))]
        lengths.append("")
    for length in lengths:
        options = f'{{"method": "{method}", "seed": {seed}{", " if length else ""}{length}}}'
        _, cpu = session.timed(f"""DROP TABLE IF EXISTS fit; CREATE TEMP TABLE fit AS
          SELECT lda_fit(words, {corpus.topics}, '{options}') AS model FROM {corpus.name}_train;""")
        iterations = session.run("SELECT iterations FROM fit, bayes_info(model);")[0]
        yield cpu, score(*session.topics("(SELECT model FROM fit)", corpus.terms)), iterations


# ---- others ----

def sklearn_rows():
    from sklearn.decomposition import LatentDirichletAllocation

    def fit(corpus, score, seed, online, prior):
        x = corpus.matrix(corpus.train)
        n = x.shape[0]
        model = LatentDirichletAllocation(
            corpus.topics, random_state=seed, total_samples=n, batch_size=256,
            doc_topic_prior=prior and prior[0], topic_word_prior=prior and prior[1])
        alpha = np.full(corpus.topics, prior[0] if prior else 1 / corpus.topics)
        watch = Watch(score)
        try:
            if not online:
                # what fit() does, pass by pass
                model.partial_fit(x[:1])
                model._init_latent_vars(x.shape[1])
            while True:
                if online:
                    for first in range(0, n, 256):
                        model.partial_fit(x[first:first + 256])
                else:
                    model._em_step(x, total_samples=n, batch_update=True)
                watch.after(1, lambda: (rows_of(model.components_), alpha))
        except Stop:
            return watch.points

    for name, online in (("batch", False), ("online", True)):
        for text, prior in (("", None), (", alpha 0.1, eta 0.02", (0.1, 0.02))):
            yield (f"scikit-learn, {name}{text}",
                   lambda c, s, seed, o=online, p=prior: fit(c, s, seed, o, p))


def gensim_rows():
    import gensim.models
    import gensim.matutils

    def fit(corpus, score, seed, online, learned):
        x = gensim.matutils.Sparse2Corpus(corpus.matrix(corpus.train), documents_columns=False)
        documents = list(x)
        chunk = min(2000, len(documents) // 4) if online else 2000  # 2000 is the default
        watch = Watch(score)

        class Watched(gensim.models.LdaModel):
            def do_mstep(self, *arguments, **more):
                super().do_mstep(*arguments, **more)
                watch.after(min(1, chunk / len(documents)) if online else 1,
                            lambda: (rows_of(self.get_topics()), np.asarray(self.alpha, float)))

        prior = "auto" if learned else "symmetric"
        try:
            Watched(documents, corpus.topics, id2word=dict(enumerate(corpus.terms)),
                    alpha=prior, eta=prior, passes=100000, update_every=1 if online else 0,
                    chunksize=chunk, eval_every=None, random_state=seed,
                    dtype=np.float64)
        except Stop:
            pass
        return watch.points

    for name, online in (("batch", False), ("online", True)):
        for text, learned in (("", False), (", alpha and eta 'auto'", True)):
            yield (f"gensim, {name}{text}",
                   lambda c, s, seed, o=online, a=learned: fit(c, s, seed, o, a))


def tomotopy_rows():
    import tomotopy

    def fit(corpus, score, seed):
        watch = Watch(score)
        model = tomotopy.LDAModel(k=corpus.topics, seed=seed)
        for document in corpus.train:
            model.add_doc([corpus.terms[w] for w in document])
        number = {w: i for i, w in enumerate(corpus.terms)}

        def found():
            order = [number[w] for w in model.used_vocabs]
            phi = np.zeros((corpus.topics, len(corpus.terms)))
            for k in range(corpus.topics):
                phi[k, order] = model.get_topic_word_dist(k)
            return rows_of(phi + 1e-12), np.asarray(model.alpha, float)

        try:
            while True:
                model.train(1, workers=1)
                watch.after(1, found)
        except Stop:
            return watch.points

    yield "tomotopy", fit


# ---- the table ----

def show(name, corpus, runs):
    """`runs`: for each seed [(CPU seconds, perplexity, passes)]"""
    def cell(values):
        values = [v for v in values if v is not None]
        return f"{statistics.median(values):.1f}" if len(values) == len(runs) else ""

    cells = []
    for budget in budgets[corpus.name]:
        cells.append(cell([next((p for s, p, _ in reversed(points) if s <= budget), None)
                           for points in runs]))
    cells.append(cell([points[-1][1] for points in runs]))
    cells.append(f"{statistics.median(points[-1][0] for points in runs):.1f}")
    print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    for points in runs:
        text = ", ".join(f"{p:.1f} at {s:.2f}" for s, p, _ in points)
        print(f"    {text}", file=sys.stderr, flush=True)


def main():
    session = lib.TopicSession()
    for name in os.environ.get("BENCH_CORPORA", "synthetic manual").split():
        corpus = lib.synthetic() if name == "synthetic" else lib.manual(session)
        session.load(f"{name}_train", corpus.train, corpus.terms)
        score = lib.Completion(corpus)
        print(f"\n{name}: {len(corpus.train)} documents, {corpus.tokens} tokens, "
              f"{len(corpus.terms)} terms; perplexity of {score.scored.data.sum():.0f} tokens of "
              f"{len(corpus.test)} other documents; {corpus.topics} topics")
        if corpus.phi is not None:
            print(f"the topics that the documents were drawn from: "
                  f"{score(corpus.phi, corpus.alpha):.1f}")
        print("| | " + " | ".join(f"{s} s" for s in budgets[name]) + " | at the end | seconds |")
        print("|---" * (len(budgets[name]) + 3) + "|")
        for method in ("vi", "svi", "em", "cvb0", "gibbs", "collapsed"):
            if re.search(only, method):
                show(method, corpus,
                     [list(ours(session, corpus, score, method, seed)) for seed in seeds])
        for rows in (sklearn_rows, gensim_rows, tomotopy_rows):
            try:
                for row, fit in rows():
                    if re.search(only, row):
                        show(row, corpus, [fit(corpus, score, seed) for seed in seeds])
            except ImportError as error:
                print(f"| {error.name}: not installed |")


main()
