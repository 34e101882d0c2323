"""Generalized linear models as whole statements, logistic and probit regression among them, and
those of scikit-learn and statsmodels.

Run by `make bench`. CPU seconds of SQL statements over 1,000,000 rows of 20 predictors, one thread;
of BENCH_RUNS (5) runs medians. The others have the rows in memory already (python3-sklearn,
python3-statsmodels); scikit-learn also has the same prior. What a single pass over the rows takes
tests/bench/regression.cpp tells.
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
CREATE TABLE given AS SELECT x, poisson_quantile(u, rate) AS counts,
  poisson_quantile(u, rate * gamma_quantile(v, 2, 2)) AS spread,
  gamma_quantile(u, 2, 2 / rate) AS amount, ln(rate) + normal_quantile(u, 0, 1) AS number,
  v < 1 / (1 + exp(1 + x[1] - 2 * x[2] - 3 * x[3])) AS y, i % 10000 AS key,
  least(4, greatest(0, floor(2 + x[1] - 2 * x[2] + 2 * x[3] + ln(v / (1 - v)))))::int AS level,
  ceil(5 * v * (0.5 + x[1] / 2))::int AS class
FROM (SELECT row_number() OVER () AS i, x, 0.001 + 0.998 * random() AS u,
  0.001 + 0.998 * random() AS v, exp(-1 + x[1] - 0.5 * x[2] + x[3]) AS rate
  FROM predictors) AS drawn;
CREATE TABLE models AS SELECT logreg_fit(y, x) AS logistic, probit_fit(y, x) AS probit FROM given;
VACUUM ANALYZE;""")
floor = "SELECT count(x) FROM given;"
options = """'{"prior": {"c": 1, "c_intercept": 1e9}}'"""
compare("count(x), then logreg_fit(y, x)", floor, "SELECT logreg_fit(y, x) IS NULL FROM given;")
compare("the same with the prior of scikit-learn", floor,
        f"SELECT logreg_fit(y, x, {options}) IS NULL FROM given;")
compare("count(x), then probit_fit(y, x)", floor, "SELECT probit_fit(y, x) IS NULL FROM given;")
for response, column in (("poisson", "counts"), ("negative_binomial", "spread"),
                         ("gamma", "amount"), ("exponential", "amount"), ("normal", "number"),
                         ("student_t", "number"), ("ordinal", "level"), ("categorical", "class")):
    compare(f"count(x), then {response}", floor,
            f"""SELECT glm_fit({column}, x, '{{"response": "{response}"}}') IS NULL FROM given;""")
session.run("""CREATE TABLE labels AS
  SELECT glm_fit(level, x, '{"response": "ordinal"}') AS ordinal,
    glm_fit(class, x, '{"response": "categorical"}') AS categorical FROM given""")
compare("10,000 groups of linreg, then of poisson",
        "SELECT count(m) FROM (SELECT linreg_fit(counts, x) AS m FROM given GROUP BY key) AS f;",
        """SELECT count(m) FROM (SELECT glm_fit(counts, x, '{"response": "poisson"}') AS m
        FROM given GROUP BY key) AS f;""")
for name in "logistic", "probit":
    compare(f"num_nulls(x), then bayes_probabilities of {name}",
            "SELECT count(num_nulls(x)) FROM given;",
            f"SELECT count((bayes_probabilities({name}, x))[2]) FROM models, given;")
for name in "ordinal", "categorical":
    compare(f"num_nulls(x), then bayes_probabilities of {name}, 50,000 rows",
            "SELECT count(num_nulls(x)) FROM (SELECT x FROM given LIMIT 50000) AS f;",
            f"""SELECT count((bayes_probabilities({name}, x))[2])
            FROM labels, (SELECT x FROM given LIMIT 50000) AS f;""")
try:
    import numpy
except ImportError:
    sys.exit()
lines = session.run("""COPY (SELECT array_to_string(x, ',') || ',' || counts || ',' || amount || ','
  || y::int || ',' || class FROM given) TO STDOUT;""")
data = numpy.array([line.split(",") for line in lines], dtype=float)
predictors = data[:, :20]


def timed(what, times, fit):
    taken = []
    for _ in range(min(runs, times)):
        begin = time.process_time()
        fit()
        taken.append(time.process_time() - begin)
    print(f"{what}, rows in memory: {statistics.median(taken):.3f} s", flush=True)


try:
    from sklearn.linear_model import LogisticRegression
    for solver in "lbfgs", "newton-cholesky":
        timed(f"scikit-learn, {solver}", 3,
              lambda: LogisticRegression(solver=solver).fit(predictors, data[:, 22]))
        timed(f"scikit-learn, {solver}, 5 classes", 1,
              lambda: LogisticRegression(solver=solver).fit(predictors, data[:, 23]))
except ImportError:
    pass
try:
    import statsmodels.api as sm
    design = sm.add_constant(predictors)
    for name, family, column in (("poisson", sm.families.Poisson(), 20),
                                 ("gamma", sm.families.Gamma(sm.families.links.log()), 21)):
        timed(f"statsmodels, {name}", 1,
              lambda: sm.GLM(data[:, column], design, family=family).fit())
except ImportError:
    pass
