"""What questions about columns cost beside gmm_predict of the same rows: 1,000,000 rows of 16
numbers, k = 16, 10 % of the elements are NULL.

Run by `make bench`. CPU seconds of one thread, medians of BENCH_RUNS (5) runs. BENCH_ROWS.
"""
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "peers"))
from session import Session, runs

count = int(os.environ.get("BENCH_ROWS", 1000000))
session = Session()
session.run(f"""
SET work_mem = '256MB';
SELECT setseed(0.5);
CREATE TABLE holes AS
SELECT i AS id, ARRAY(SELECT CASE WHEN random() > 0.1
    THEN sin(i * (j + 0.1)) + (i * j) % 16 * 0.5 END FROM generate_series(1, 16) AS j) AS x
FROM generate_series(1, {count}) AS i;
CREATE TABLE model AS SELECT gmm_fit(x, 16, '{{"max_iter": 10, "tol": 1e6}}') AS m
FROM holes WHERE id <= 20000;
CREATE TABLE given AS SELECT id, x[1:8] || array_fill(NULL::float8, '{{8}}') AS g FROM holes;
VACUUM ANALYZE;""")
patterns = session.run("SELECT count(DISTINCT array_positions(x, NULL)) FROM holes;")[0]
print(f"{count} rows, {patterns} patterns of NULLs, CPU seconds of one thread, "
      f"medians of {runs} runs")
predict = "SELECT count(gmm_predict(m, x)) FROM holes, model;"
session.compare("log density", predict, "SELECT sum(bayes_log_density(m, x)) FROM holes, model;")
session.compare("log density given half of the columns", predict, """SELECT
  sum(bayes_log_density(m, x, g)) FROM holes JOIN given USING (id), model;""")
session.compare("anomalies", predict, "SELECT sum(bayes_anomaly(m, x)) FROM holes, model;")
session.compare("imputation by medians", predict,
                "SELECT count(bayes_impute(m, x)) FROM holes, model;")
