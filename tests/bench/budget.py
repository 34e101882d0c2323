"""By how much fits exceed option max_seconds: every family and method, on rows that they need minutes for.

Run by `make bench`, for 2 seconds; in a session with the extension python3 tests/bench/budget.py 2 20 [--only FAMILY/METHOD] takes other
limits. BENCH_ROWS (200000) sets the size.

A fit may take 1 second or 2 % more than its limit, whichever is more, and one iteration (of samplers one sweep of each chain, as each
makes at least a draw), whose time is that of the whole fit divided by the iterations of all restarts or the sweeps of a chain. `ends` is what a fit without time takes: its starting points, one
iteration and what follows the last. The exit status says whether all fits kept their time."""
import os
import re
import subprocess
import sys

rows = int(os.environ.get("BENCH_ROWS", 200_000))
arguments = sys.argv[1:]
only = arguments[arguments.index("--only") + 1] if "--only" in arguments else ""
budgets = [float(a) for a in arguments if re.fullmatch(r"[0-9.]+", a)] or [2.0]


def psql(sql):
    text = "SET client_min_messages = error;\nSET maintenance_work_mem = '2GB';\nSET jit = off;\n" + sql
    result = subprocess.run(["psql", "-XAtq", "-F", "\t", "-v", "ON_ERROR_STOP=1"], input=text, capture_output=True, text=True,
                            check=False)
    if result.returncode:
        sys.exit(result.stderr)
    return [line.split("\t") for line in result.stdout.splitlines()]


psql(f"""
SELECT setseed(0.5);
CREATE TABLE points AS SELECT array(SELECT (c * (7 + j * 3)) % 10 * 0.8 + random() + random() + random() FROM generate_series(1, 8) AS j)
    AS x, c FROM (SELECT (random() * 10)::int AS c FROM generate_series(1, {rows}) AS i OFFSET 0) AS r;
CREATE TABLE answers AS SELECT array(SELECT random() < 0.1 + 0.08 * ((c * (j + 3)) % 11) FROM generate_series(1, 12) AS j) AS x, c
  FROM (SELECT (random() * 10)::int AS c FROM generate_series(1, {rows}) AS i OFFSET 0) AS r;
CREATE TABLE outcomes AS SELECT x, x[1] + x[2] - x[3] + 2 * (random() - 0.5) AS y, x[1] + x[2] - x[3] + 3 * (random() - 0.5) > 3 AS z
  FROM points;
CREATE TABLE sequences AS SELECT i / 100 AS id, array_agg(chr(97 + (random() * 4 + i / 10 % 3)::int)) AS d
  FROM generate_series(1, {rows}) AS i GROUP BY 1;
CREATE TABLE documents AS SELECT array(SELECT 'w' || ((i * 37 % 20) * 50 + (random() * random() * 200)::int) % 2000
    FROM generate_series(1, 100) WHERE i > 0) AS d FROM generate_series(1, {rows // 20}) AS i;
CREATE TABLE cells AS SELECT DISTINCT ON (r, c) r, c, 1 + (random() * 4)::int AS n
  FROM (SELECT (random() * random() * {rows // 10})::int AS r, (random() * random() * 2000)::int AS c
    FROM generate_series(1, {4 * rows})) AS u;
ANALYZE;
""")

samplers = {"gibbs", "collapsed", "slice"}
endless = '"tol": 0, "max_iter": 1000000'
restarts = ', "restarts": 1000'
draws = '"draws": 1000000, "warmup": 500000'
fits = [
    ("gmm", "gmm_fit(x, 10, %s)", "points", "em map vi svi gibbs collapsed mcem kmeans", restarts),
    ("bmm", "bmm_fit(x, 10, %s)", "answers", "em map vi svi gibbs collapsed mcem", restarts),
    ("dpmm", "dpmm_fit(x, %s)", "points", "collapsed gibbs slice vi", restarts),
    ("hmm", "hmm_fit(d, 5, %s)", "sequences", "em map vi svi gibbs", restarts),
    ("lda", "lda_fit(d, 20, %s)", "documents", "vi em svi cvb0 gibbs collapsed", restarts),
    ("nmf", "nmf_fit(r::text, c::text, n, 20, %s)", "cells", "vi svi em squared", restarts),
    ("pmf", "pmf_fit(r::text, c::text, n, 10, %s)", "cells", "gibbs", ""),
    ("linreg", "linreg_fit(y, x, %s)", "outcomes", "em laplace vi gibbs", ""),
    ("logreg", "logreg_fit(z, x, %s)", "outcomes", "laplace gibbs", ""),
    ("probit", "probit_fit(z, x, %s)", "outcomes", "laplace em vi gibbs", ""),
]


def fit(call, table, method, more, seconds):
    """(seconds, iterations of all restarts or chains, stopped)"""
    options = f'{{"method": "{method}", {draws if method in samplers else endless + more}, "max_seconds": {seconds}}}'
    of_fit = call % f"'{options}'"
    found = psql(f"""SELECT seconds, CASE WHEN draws > 0 THEN iterations
        ELSE greatest(1, (SELECT count(*) FILTER (WHERE iteration > 0) FROM bayes_trace(model))) END, stopped
      FROM (SELECT {of_fit} AS model FROM {table} OFFSET 0) AS fit, bayes_info(model)""")[0]
    return float(found[0]), int(found[1]), found[2]


print(f"{'family':8s}{'method':10s}{'ends':>7s}" + "".join(f"{'limit':>8s}{'took':>9s}{'iteration':>10s}{'beyond':>8s}" for _ in budgets))
late = []
for family, call, table, methods, more in fits:
    for method in methods.split():
        if not f"{family}/{method}".startswith(only):
            continue
        line = f"{family:8s}{method:10s}{fit(call, table, method, more, 1e-9)[0]:7.2f}"
        for budget in budgets:
            took, iterations, stopped = fit(call, table, method, more, budget)
            beyond, each = took - budget, took / iterations
            line += f"{budget:8g}{took:9.3f}{each:10.4f}{beyond:8.3f}"
            if stopped != "max_seconds":
                line += f" {stopped}"
            elif beyond > max(1, 0.02 * budget) + each:
                line += " LATE"
                late.append(f"{family} {method} {budget:g}")
        print(line, flush=True)
print(f"{len(late)} fits were late" + (": " + ", ".join(late) if late else ""))
sys.exit(bool(late))
