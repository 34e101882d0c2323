"""Linear regression: statistics against a trivial aggregate over the same table, and against
scikit-learn's BayesianRidge; groups, moving windows, parallel plans, precision.

Run by `make bench`. CPU seconds of whole SQL statements over 1,000,000 rows of a response and 20
predictors, one thread unless said otherwise; of BENCH_RUNS (5) runs medians of two statements and of
their ratio. scikit-learn's part needs python3-sklearn.
"""
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "peers"))
from session import Session, runs

session = Session()
compare = session.compare
print(f"1000000 rows of 20 predictors, CPU seconds of one thread, medians of {runs} runs")
predictors = ", ".join("random()" for _ in range(20))
columns = ", ".join(f"x[{j}] AS x{j}" for j in range(1, 21))
session.run(f"""
SET max_parallel_workers_per_gather = 0;
SET work_mem = '1GB';
SELECT setseed(0.5);
CREATE TABLE given AS SELECT i, i % 10000 AS g, y, ARRAY[{predictors}] AS x,
  'label ' || i % 20 AS label
FROM (SELECT i, random() AS y FROM generate_series(1, 1000000) AS i) AS f;
CREATE TABLE wide AS SELECT y, {columns} FROM given;
VACUUM ANALYZE;""")
floor = "SELECT count(x) FROM given;"
compare("count(x), then linreg_stats(y, x)", floor,
        "SELECT linreg_stats(y, x) IS NULL FROM given;")
compare("max(x[20]), then linreg_stats(y, x)", "SELECT max(x[20]) FROM given;",
        "SELECT linreg_stats(y, x) IS NULL FROM given;")
compare("linreg_stats(y, x), then weighted", "SELECT linreg_stats(y, x) IS NULL FROM given;",
        "SELECT linreg_stats(y, x, NULL, 0.5) IS NULL FROM given;")
compare("linreg_stats(y, x), then linreg_fit(y, x)", "SELECT linreg_stats(y, x) IS NULL FROM given;",
        "SELECT linreg_fit(y, x) IS NULL FROM given;")
compare("an array, then a record of 20 columns", "SELECT linreg_stats(y, x) IS NULL FROM given;",
        """SELECT linreg_stats(y, r) IS NULL
        FROM (SELECT y, r FROM wide, LATERAL (SELECT """
        + ", ".join(f"x{j}" for j in range(1, 21)) + ") AS r) AS f;")
compare("one number, then a label of 20 as well",
        "SELECT linreg_stats(y, i) IS NULL FROM given;",
        "SELECT linreg_stats(y, r) IS NULL FROM given, LATERAL (SELECT i, label) AS r;")
compare("count(x) of 10000 groups, then linreg_stats(y, x)",
        "SELECT count(*) FROM (SELECT count(x) FROM given GROUP BY g) AS f;",
        "SELECT count(s) FROM (SELECT linreg_stats(y, x) AS s FROM given GROUP BY g) AS f;")
window = """SELECT count(s) FROM (SELECT linreg_stats(y, x) OVER (ORDER BY i ROWS {} PRECEDING) AS s
  FROM given WHERE i <= 100000) AS f;"""
compare("100000 windows of 100 rows, then of 10000", window.format(100), window.format(10000))
session.run("SET max_parallel_workers_per_gather = 1; SET parallel_setup_cost = 0;")
for what, statement in (("count(x)", floor),
                        ("linreg_stats(y, x)", "SELECT linreg_stats(y, x) IS NULL FROM given;")):
    taken = []
    for _ in range(runs):
        begin = time.monotonic()
        session.run(statement)
        taken.append(time.monotonic() - begin)
    print(f"{what + ', two processes, elapsed':62s} {statistics.median(taken):7.3f} s", flush=True)
try:
    import numpy
    from sklearn.linear_model import BayesianRidge
except ImportError:
    sys.exit(0)
random = numpy.random.default_rng(1)
x, y = random.random((1000000, 20)), random.random(1000000)
taken = []
for _ in range(min(runs, 3)):
    begin = time.process_time()
    BayesianRidge().fit(x, y)
    taken.append(time.process_time() - begin)
print(f"{'scikit-learn, BayesianRidge, rows in memory':62s} {statistics.median(taken):7.3f} s")
