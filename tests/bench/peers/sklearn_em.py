"""scikit-learn's part of the comparison: the same rows, the same starting point, the same number of EM iterations.

Called by ../gmm.py with a file of rows (float64, d columns) and one of starting parameters. Prints seconds of fit alone."""
import sys
import time
import warnings

import numpy as np
import threadpoolctl
from sklearn.mixture import GaussianMixture

warnings.filterwarnings("ignore")
rows, start, k, iterations = sys.argv[1], np.load(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
x = np.load(rows)


def fit(iterations):
    # Without init_params scikit-learn runs k-means before it turns to the given start.
    model = GaussianMixture(k, covariance_type="full", tol=0, reg_covar=0, max_iter=iterations, init_params="random_from_data",
                            weights_init=start["weights"], means_init=start["means"], precisions_init=np.linalg.inv(start["covariances"]))
    begin = time.perf_counter()
    model.fit(x)
    return time.perf_counter() - begin, model


seconds, model = fit(iterations)
blas = {f"{p['internal_api']} {p['version']}, {p['num_threads']} thread(s)" for p in threadpoolctl.threadpool_info() if p["user_api"] == "blas"}
print(seconds, model.score(x) * len(x), "; ".join(blas) or "reference BLAS", sep="|")
