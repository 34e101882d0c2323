#!/usr/bin/python3
"""Reference figures for tests/core/gmm_peers_test.cpp from scikit-learn (Debian: python3-sklearn).

Writes, beside this script, reference/optima_sklearn.csv: for every data set, k and covariance the log-likelihood that ten k-means starts find
("usual") and the best over many seeds of two kinds of start ("best"), and reference/paths_sklearn.csv: the parameters after a fixed number of EM iterations from a start that is written out as well.
Run by hand when data sets change:  tests/statistics/reference_sklearn.py
"""
import csv
import os
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")
import numpy
import sklearn
from sklearn.mixture import GaussianMixture

warnings.filterwarnings("ignore")
HERE = os.path.dirname(os.path.abspath(__file__))
EFFORTS = {"usual": [("kmeans", seed) for seed in range(10)],
           "best": [(init, seed) for seed in range(30) for init in ("kmeans", "k-means++")]}
# The columns that are numbers; "sex" has two values and makes every component that takes one of them degenerate.
LEFT_OUT = {"iris": ["species"], "wine": ["class"], "diabetes": ["sex"]}
SHAPES = {"full": "full", "diag": "diagonal", "spherical": "spherical", "tied": "tied"}


def load(name):
    with open(os.path.join(HERE, "..", "data", name + ".csv")) as file:
        rows = list(csv.reader(file))
    keep = [i for i, column in enumerate(rows[0]) if column not in LEFT_OUT.get(name, [])]
    return numpy.array([[float(row[i]) for i in keep] for row in rows[1:]])


def dense(model, d):
    """The k x d x d covariances."""
    c, k = model.covariances_, model.n_components
    return {"full": lambda: c, "tied": lambda: numpy.array([c] * k), "diag": lambda: numpy.array([numpy.diag(v) for v in c]),
            "spherical": lambda: numpy.array([v * numpy.eye(d) for v in c])}[model.covariance_type]()


def thinnest(model, x):
    """The smallest eigenvalue of a covariance in units of the columns' deviations: what our covariance_floor keeps above 1e-6."""
    s = x.std(axis=0)
    if model.covariance_type == "spherical":
        return model.covariances_.min() / (s * s).mean()
    if model.covariance_type == "diag":
        return (model.covariances_ / (s * s)).min()
    return min(numpy.linalg.eigvalsh(c / numpy.outer(s, s))[0] for c in dense(model, x.shape[1]))


def optima(out):
    out.writerow(["data", "k", "covariance", "software", "version", "effort", "log_likelihood", "thinnest"])
    for name in ["faithful", "iris", "wine", "diabetes", "quakes"]:
        x = load(name)
        for k in [2, 3, 5]:
            for theirs, ours in SHAPES.items():
                for effort, starts in EFFORTS.items():
                    best = None
                    for init, seed in starts:
                        try:
                            model = GaussianMixture(k, covariance_type=theirs, reg_covar=0, tol=1e-9, max_iter=5000, random_state=seed,
                                                    init_params=init).fit(x)
                        except ValueError:  # a singular covariance
                            continue
                        value, thin = model.score(x) * len(x), thinnest(model, x)
                        # Below our floor the likelihood is unbounded: nothing to compare with.
                        if thin >= 1e-6 and (best is None or value > best[0]):
                            best = (value, thin)
                    if best:
                        out.writerow([name, k, ours, "scikit-learn", sklearn.__version__, effort, repr(float(best[0])), "%.3g" % best[1]])


def paths(out):
    out.writerow(["data", "k", "covariance", "software", "version", "iterations", "what", "values"])
    for name, k in [("faithful", 2), ("iris", 3), ("wine", 2), ("diabetes", 2), ("quakes", 4)]:
        x = load(name)
        n, d = x.shape
        spread = numpy.cov(x.T, bias=True)
        for theirs, ours in SHAPES.items():
            means = x[[(i * n) // k for i in range(k)]]
            weights = numpy.arange(1, k + 1) / (k * (k + 1) / 2)
            precisions = {"full": lambda: numpy.array([numpy.linalg.inv(spread)] * k), "tied": lambda: numpy.linalg.inv(spread),
                          "diag": lambda: numpy.array([1 / numpy.diag(spread)] * k),
                          "spherical": lambda: numpy.full(k, 1 / numpy.diag(spread).mean())}[theirs]()
            for iterations in [1, 20]:
                try:
                    model = GaussianMixture(k, covariance_type=theirs, reg_covar=0, tol=0, max_iter=iterations, means_init=means,
                                            weights_init=weights, precisions_init=precisions, random_state=0).fit(x)
                except ValueError:  # a component collapsed: left out, as there is nothing to compare with
                    continue
                for what, values in [("weights", model.weights_), ("means", model.means_), ("covariances", dense(model, d))]:
                    out.writerow([name, k, ours, "scikit-learn", sklearn.__version__, iterations, what,
                                  " ".join(repr(float(v)) for v in numpy.ravel(values))])


def write(name, rows):
    with open(os.path.join(HERE, "reference", name), "w", newline="") as file:
        rows(csv.writer(file, lineterminator="\n"))


if __name__ == "__main__":
    write("paths_sklearn.csv", paths)
    write("optima_sklearn.csv", optima)
