#!/usr/bin/python3
"""Reference figures for tests/statistics/linreg_peers_test.cpp (Debian: python3-sklearn, python3-scipy).

Writes, beside this script, reference/linreg.csv: coefficients of the diabetes data by ordinary least
squares, with the intervals of R's lm (numpy's QR decomposition and scipy's Student t), and by
scikit-learn's BayesianRidge, with the precisions that it estimates.
Run by hand when the data change:  tests/statistics/reference_linreg.py
"""
import csv
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
import numpy
import scipy.stats
from sklearn.linear_model import BayesianRidge

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, "..", "data", "diabetes.csv")) as file:
    rows = list(csv.reader(file))
names = rows[0][:-1]
data = numpy.array([[float(v) for v in row] for row in rows[1:]])
x, y = data[:, :-1], data[:, -1]

with open(os.path.join(HERE, "reference", "linreg.csv"), "w") as file:
    file.write("method,term,mean,sd,lower,upper\n")

    def write(method, term, *numbers):
        file.write(",".join([method, term] + [repr(float(v)) for v in numbers]) + "\n")

    with_one = numpy.column_stack([numpy.ones(len(y)), x])
    q, r = numpy.linalg.qr(with_one)
    w = numpy.linalg.solve(r, q.T @ y)
    freedom = len(y) - with_one.shape[1]
    variance = ((y - with_one @ w) ** 2).sum() / freedom
    inverse = numpy.linalg.inv(r)
    error = numpy.sqrt(variance * (inverse ** 2).sum(axis=1))
    t = scipy.stats.t.ppf(0.975, freedom)
    for name, mean, se in zip(["(intercept)"] + names, w, error):
        write("lm", name, mean, se, mean - t * se, mean + t * se)
    row = with_one[0]
    expected, se = row @ w, numpy.sqrt(variance) * numpy.linalg.norm(inverse.T @ row)
    write("lm", "confidence", expected, se, expected - t * se, expected + t * se)
    se = numpy.sqrt(variance + se ** 2)
    write("lm", "prediction", expected, se, expected - t * se, expected + t * se)

    ridge = BayesianRidge(tol=1e-12, n_iter=3000).fit(x, y)
    z = scipy.stats.norm.ppf(0.975)
    write("ridge", "precisions", ridge.alpha_, ridge.lambda_, 0, 0)
    for name, mean, se in zip(names, ridge.coef_, numpy.sqrt(numpy.diag(ridge.sigma_))):
        write("ridge", name, mean, se, mean - z * se, mean + z * se)
    write("ridge", "(intercept)", ridge.intercept_, 0, 0, 0)
