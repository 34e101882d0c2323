#!/usr/bin/python3
"""Reference figures for tests/statistics/nb_peers_test.cpp from scikit-learn (Debian:
python3-sklearn).

Writes, beside this script, reference/nb_sklearn.csv: log p(class, row) of some rows by GaussianNB,
BernoulliNB, CategoricalNB and MultinomialNB, each fitted to all rows of a data set.
Run by hand when data sets change:  tests/statistics/reference_nb.py
"""
import csv
import os

import numpy
import sklearn
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB

HERE = os.path.dirname(os.path.abspath(__file__))
LABEL = {"iris": "species", "wine": "class", "breast_cancer": "benign", "digits": "label"}


def load(name):
    with open(os.path.join(HERE, "..", "data", name + ".csv")) as file:
        rows = list(csv.reader(file))
    at = rows[0].index(LABEL[name])
    x = numpy.array([[float(v) for i, v in enumerate(row) if i != at] for row in rows[1:]])
    return x, numpy.array([row[at] for row in rows[1:]])


def main():
    path = os.path.join(HERE, "reference", "nb_sklearn.csv")
    with open(path, "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["version", "method", "data", "row", "class", "log_joint"])
        for name, methods in [("iris", ["gaussian", "categorical"]), ("wine", ["gaussian"]),
                              ("breast_cancer", ["gaussian"]),
                              ("digits", ["bernoulli", "categorical", "multinomial"])]:
            x, y = load(name)
            for method in methods:
                model = {"gaussian": lambda: GaussianNB(var_smoothing=0),
                         "bernoulli": lambda: BernoulliNB(alpha=1, binarize=7.5),
                         "categorical": lambda: CategoricalNB(alpha=1),
                         "multinomial": lambda: MultinomialNB(alpha=1)}[method]()
                # categories numbered from 0, without gaps
                values = numpy.array([numpy.unique(numpy.floor(c), return_inverse=True)[1]
                                      for c in x.T]).T if method == "categorical" else x
                model.fit(values, y)
                some = range(0, len(x), len(x) // 15)
                joint = model._joint_log_likelihood(values[some])
                for row, scores in zip(some, joint):
                    for label, score in zip(model.classes_, scores):
                        out.writerow([sklearn.__version__, method, name, row, label, repr(float(score))])


main()
