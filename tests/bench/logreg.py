"""Logistic and probit regression as whole statements, and scikit-learn's logistic regression.

Run by `make bench`. CPU seconds of SQL statements over 1,000,000 rows of 20 predictors, one thread;
of BENCH_RUNS (5) runs medians. scikit-learn (python3-sklearn) has the rows in memory already, and
the same prior. What a single pass over the rows takes tests/bench/regression.cpp tells.
"""
import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "peers"))
from session import Session, runs

session = Session()
compare = session.compare
print(f"1000000 rows of 20 predictors, CPU seconds of one thread, medians of {runs} runs")
session.run(f"""
SET maintenance_work_mem = '1GB';
SELECT setseed(0.5);
CREATE TABLE predictors AS SELECT ARRAY[{", ".join("random()" for _ in range(20))}] AS x
FROM generate_series(1, 1000000);
CREATE TABLE given AS SELECT x, random() < 1 / (1 + exp(1 + x[1] - 2 * x[2] - 3 * x[3])) AS y
FROM predictors;
CREATE TABLE models AS SELECT logreg_fit(y, x) AS logistic, probit_fit(y, x) AS probit FROM given;
VACUUM ANALYZE;""")
floor = "SELECT count(x) FROM given;"
options = """'{"prior": {"c": 1, "c_intercept": 1e9}}'"""
compare("count(x), then logreg_fit(y, x)", floor, "SELECT logreg_fit(y, x) IS NULL FROM given;")
compare("the same with the prior of scikit-learn", floor,
        f"SELECT logreg_fit(y, x, {options}) IS NULL FROM given;")
compare("count(x), then probit_fit(y, x)", floor, "SELECT probit_fit(y, x) IS NULL FROM given;")
compare("num_nulls(x), then bayes_probabilities", "SELECT count(num_nulls(x)) FROM given;",
        "SELECT count((bayes_probabilities(logistic, x))[2]) FROM models, given;")
compare("num_nulls(x), then bayes_probabilities of probit", "SELECT count(num_nulls(x)) FROM given;",
        "SELECT count((bayes_probabilities(probit, x))[2]) FROM models, given;")
try:
    import numpy
    from sklearn.linear_model import LogisticRegression
except ImportError:
    sys.exit()
lines = session.run("""COPY (SELECT array_to_string(x, ',') || ',' || y::int FROM given)
  TO STDOUT;""")
data = numpy.array([line.split(",") for line in lines], dtype=float)
for solver in "lbfgs", "newton-cholesky":
    taken = []
    for _ in range(min(runs, 3)):
        begin = time.process_time()
        LogisticRegression(solver=solver).fit(data[:, :20], data[:, 20])
        taken.append(time.process_time() - begin)
    print(f"scikit-learn, {solver}, rows in memory: {statistics.median(taken):.3f} s", flush=True)
