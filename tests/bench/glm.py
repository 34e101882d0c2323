"""Generalized linear models as whole statements, and those of statsmodels.

Run by `make bench`. CPU seconds of SQL statements over 1,000,000 rows of 20 predictors, one thread;
of BENCH_RUNS (5) runs medians. statsmodels (python3-statsmodels) has the rows in memory already.
"""
import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

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
  rate > 2 * u AS yes, i % 10000 AS key
FROM (SELECT row_number() OVER () AS i, x, 0.001 + 0.998 * random() AS u,
  0.001 + 0.998 * random() AS v, exp(-1 + x[1] - 0.5 * x[2] + x[3]) AS rate
  FROM predictors) AS drawn;
VACUUM ANALYZE;""")
floor = "SELECT count(x) FROM given;"
compare("count(x), then logreg_fit", floor, "SELECT logreg_fit(yes, x) IS NULL FROM given;")
for response, column in (("poisson", "counts"), ("negative_binomial", "spread"),
                         ("gamma", "amount"), ("exponential", "amount"), ("normal", "number"),
                         ("student_t", "number")):
    compare(f"count(x), then {response}", floor,
            f"""SELECT glm_fit({column}, x, '{{"response": "{response}"}}') IS NULL FROM given;""")
compare("10,000 groups of linreg, then of poisson",
        "SELECT count(m) FROM (SELECT linreg_fit(counts, x) AS m FROM given GROUP BY key) AS f;",
        """SELECT count(m) FROM (SELECT glm_fit(counts, x, '{"response": "poisson"}') AS m
        FROM given GROUP BY key) AS f;""")
try:
    import numpy
    import statsmodels.api as sm
except ImportError:
    sys.exit()
lines = session.run("""COPY (SELECT array_to_string(x, ',') || ',' || counts || ',' || amount
  FROM given) TO STDOUT;""")
data = numpy.array([line.split(",") for line in lines], dtype=float)
design = sm.add_constant(data[:, :20])
for name, family, column in (("poisson", sm.families.Poisson(), 20),
                             ("gamma", sm.families.Gamma(sm.families.links.log()), 21)):
    begin = time.process_time()
    sm.GLM(data[:, column], design, family=family).fit()
    print(f"statsmodels, {name}, rows in memory: {time.process_time() - begin:.3f} s", flush=True)
