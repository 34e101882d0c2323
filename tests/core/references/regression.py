#!/usr/bin/env python3
"""Writes regression.inc beside this file: coefficients of logistic and probit regressions by other
software. scikit-learn's LogisticRegression on breast_cancer, whose columns are divided by their
standard deviations, with the penalty w'w / 2 and no penalty on the intercept; and, in place of R's
glm, Newton's method in long double for the maximum likelihood on birthwt, checked against the
coefficients that Venables and Ripley print."""
import csv
import os

import numpy as np
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

here = os.path.dirname(os.path.abspath(__file__))


def table(name):
    with open(os.path.join(here, "..", "..", "data", name)) as file:
        rows = list(csv.reader(file))
    return np.array(rows[1:], dtype=float)


def maximum_likelihood(y, x, probit):
    x, sign = x.astype(np.longdouble), np.where(y == 1, 1.0, -1.0)
    w = np.zeros(x.shape[1], dtype=np.longdouble)
    for _ in range(60):
        t = sign * (x @ w)
        if probit:
            slope = np.exp(norm.logpdf(t.astype(float)) - norm.logcdf(t.astype(float)))
            bend = slope * (slope + t)
        else:
            slope = 1 / (1 + np.exp(t))
            bend = slope * (1 - slope)
        hessian = (x * bend[:, None]).T @ x
        w = w + np.linalg.solve(hessian.astype(float), (x.T @ (sign * slope)).astype(float))
    deviations = np.sqrt(np.diag(np.linalg.inv(hessian.astype(float))))
    return w, deviations


def numbers(name, values):
    return "const double %s[] = {\n%s};\n\n" % (
        name, "".join("    %.15g,\n" % value for value in values))


births = table("birthwt.csv")
low, age, lwt, race, smoke, ptl, ht, ui, ftv = births[:, :9].T
terms = np.column_stack([np.ones(len(low)), age, lwt, race == 2, race == 3, smoke, ptl, ht, ui,
                         ftv]).astype(float)
logit, logit_sd = maximum_likelihood(low, terms, False)
printed = [0.480623, -0.029549, -0.015424, 1.272260, 0.880496, 0.938846, 0.543337, 1.863303,
           0.767648, 0.065302]
assert np.allclose(logit.astype(float), printed, atol=6e-7), logit
probit, probit_sd = maximum_likelihood(low, terms, True)

cancer = table("breast_cancer.csv")
benign, x = cancer[:, 0], cancer[:, 1:]
scaled = x / x.std(axis=0)
ridge = LogisticRegression(C=1, tol=1e-12, max_iter=100000, solver="newton-cholesky").fit(
    scaled, benign)

with open(os.path.join(here, "regression.inc"), "w") as out:
    out.write("// Written by regression.py.\n\n")
    out.write(numbers("births_logit", logit) + numbers("births_logit_sd", logit_sd))
    out.write(numbers("births_probit", probit) + numbers("births_probit_sd", probit_sd))
    out.write(numbers("cancer_ridge", [*ridge.intercept_, *ridge.coef_[0]]).rstrip("\n") + "\n")
