"""Whole SQL statements against their floor and against scikit-learn, in one run on one machine.

Run by `make bench`. BENCH_ROWS (1000000) sets the size, BENCH_RUNS (3) the number of runs of which medians are shown. Needs
python3-sklearn for the comparison with it; without, that part is left out and says so."""
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

rows = int(os.environ.get("BENCH_ROWS", 1_000_000))
runs = int(os.environ.get("BENCH_RUNS", 3))
d = k = 16
iterations = 20
here = Path(__file__).parent


def psql(sql, **settings):
    """Runs statements in one session; returns the rows of output and the milliseconds of each statement."""
    text = "".join(f"SET {name} = {value};\n" for name, value in settings.items())
    result = subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1"], input=text + "SET client_min_messages = error;\n\\timing on\n" + sql,
                            capture_output=True, text=True, check=False)
    if result.returncode:
        sys.exit(result.stderr)
    times = [float(t) for t in re.findall(r"^Time: ([0-9.]+) ms", result.stdout, re.M)]
    return [line for line in result.stdout.splitlines() if not line.startswith("Time: ")], times


def median_time(sql, **settings):
    return statistics.median(psql(sql, **settings)[1][-1] for _ in range(runs)) / 1000


def fit_seconds(expression, table, **settings):
    """(median seconds of the whole statement, of the fit in it)."""
    whole, inside = [], []
    for _ in range(runs):
        output, times = psql(f"SELECT seconds FROM (SELECT {expression} AS model FROM {table} OFFSET 0) AS fit, bayes_info(model);", **settings)
        whole.append(times[-1] / 1000)
        inside.append(float(output[-1]))
    return statistics.median(whole), statistics.median(inside)


def say(text, value, unit="", note=""):
    print(f"{text:68s} {value:9.3f} {unit:3s} {note}", flush=True)


serial = {"max_parallel_workers_per_gather": 0, "jit": "off"}
memory = {**serial, "maintenance_work_mem": "'4GB'"}

psql(f"""
CREATE TABLE big (x float8[]);
ALTER TABLE big ALTER x SET STORAGE plain;
SELECT setseed(0.5);
INSERT INTO big SELECT array(SELECT ((c * (7 + j * 3)) % 16) * 0.4 + random() + random() + random() + random() FROM generate_series(1, {d}) AS j)
  FROM (SELECT i, (random() * {k})::int AS c FROM generate_series(1, {rows}) AS i OFFSET 0) AS r;
CREATE TABLE tenth AS SELECT x FROM big LIMIT {rows // 10};
CREATE TABLE start AS SELECT gmm_fit(x, {k}, '{{"method": "em", "restarts": 1, "max_iter": 1}}') AS model FROM tenth;
VACUUM ANALYZE;
SELECT count(*) FROM big;
""", **memory)

# ---- loading ----
library = Path(tempfile.mkdtemp())
library.chmod(0o755)
include = subprocess.run([os.environ.get("PG_CONFIG", "pg_config"), "--includedir-server"], capture_output=True, text=True, check=True).stdout.strip()
subprocess.run(["cc", "-O2", "-fPIC", "-shared", "-I", include, "-o", library / "floor.so", here / "peers" / "floor.c"], check=True)
psql(f"""
CREATE FUNCTION floor_transition(float8, float8[]) RETURNS float8 AS '{library}/floor', 'floor_transition' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE AGGREGATE floor_rows(float8[]) (SFUNC = floor_transition, STYPE = float8, INITCOND = 0);
""")
print(f"\n{rows} rows of {d} numbers; medians of {runs} runs")
psql("CHECKPOINT;")
psql("SELECT floor_rows(x) FROM big;", **memory)
# Memory that nobody has used since the machine was started costs more to touch the first time, on virtual machines much more.
psql("""SELECT gmm_fit(x, 1, '{"method": "kmeans", "restarts": 1}') IS NULL FROM big;""", **memory)
floor = median_time("SELECT floor_rows(x) FROM big;", **memory)
say("floor: a trivial C aggregate", floor, "s")
whole, inside = fit_seconds("""gmm_fit(x, 1, '{"method": "kmeans", "restarts": 1}')""", "big", **memory, **{"pg_bayes.threads": 1})
say("loading the rows (aggregate)", whole - inside, "s", f"{(whole - inside) / floor:.2f} x floor")
relation = median_time("""SELECT count(*) FROM gmm_fit('SELECT x FROM big', 1, '{"method": "kmeans", "restarts": 1}');""", **memory, **{"pg_bayes.threads": 1})
say("loading the rows (relation form)", relation - inside, "s", f"{(relation - inside) / floor:.2f} x floor")
for method in ("em", "vi"):
    psql(f"""CREATE TABLE model_{method} AS SELECT gmm_fit(x, {k}, '{{"method": "{method}", "restarts": 1, "max_iter": 5}}') AS model FROM tenth;""", **memory)
    predict = median_time(f"SELECT sum(gmm_predict((SELECT model FROM model_{method}), x)) FROM big;", **memory)
    say(f"gmm_predict over all rows, k = {k}, model by {method}", predict, "s", f"{predict / floor:.2f} x floor")

# ---- EM, from the same starting point ----
seconds = {}
for threads in (1, 2):
    for method in ("em", "vi"):
        options = json.dumps({"method": method, "tol": 0, "max_iter": iterations})
        whole, inside = fit_seconds(f"gmm_fit(x, (SELECT model FROM start), '{options}')", "big", **memory, **{"pg_bayes.threads": threads})
        seconds[method, threads] = whole, inside
        say(f"{iterations} iterations of {method}, k = {k}, full covariance, {threads} thread(s): statement", whole, "s", f"fit alone {inside:.3f} s")
    say(f"vi : em per iteration, {threads} thread(s)", seconds["vi", threads][1] / seconds["em", threads][1], "x")
options = json.dumps({"method": "em", "tol": 0, "max_iter": iterations, "covariance": "diagonal"})
say(f"{iterations} iterations of em, diagonal covariance, 1 thread: statement",
    fit_seconds(f"gmm_fit(x, (SELECT model FROM start), '{options}')", "big", **memory, **{"pg_bayes.threads": 1})[0], "s")

# ---- growth and spilling ----
options = json.dumps({"method": "em", "tol": 0, "max_iter": iterations})
one = fit_seconds(f"gmm_fit(x, (SELECT model FROM start), '{options}')", "tenth", **memory, **{"pg_bayes.threads": 1})[0]
say(f"time per row, {rows} rows : {rows // 10} rows", seconds["em", 1][0] / one / 10, "x")
budget = max(1024, rows * d * 8 // 10 // 1024)
for threads in (1, 2):
    spilled = fit_seconds(f"gmm_fit(x, (SELECT model FROM start), '{options}')", "big", **serial,
                          **{"pg_bayes.threads": threads, "maintenance_work_mem": f"'{budget}kB'"})[0]
    say(f"10 x more rows than maintenance_work_mem : in memory, {threads} thread(s)", spilled / seconds["em", threads][0], "x")

# ---- scikit-learn ----
try:
    import numpy as np
    import sklearn
except ImportError:
    print("scikit-learn is not installed (apt-get install python3-sklearn libopenblas0-pthread): no comparison with it")
    sys.exit()
files = Path(tempfile.mkdtemp())
begin = os.times().elapsed
psql(f"\\copy (SELECT array_to_string(x, ',') FROM big) TO '{files}/x.csv' WITH (FORMAT text, DELIMITER E'\\x01')")
x = np.loadtxt(files / "x.csv", delimiter=",")
export = os.times().elapsed - begin
np.save(files / "x.npy", x)
parameters = json.loads(psql("SELECT model::jsonb - 'trace' FROM start;")[0][-1])
np.savez(files / "start.npz", weights=parameters["weights"], means=parameters["means"], covariances=parameters["covariances"])
say("export to Python by COPY and numpy.loadtxt (not counted below)", export, "s")
for threads in (1, 2):
    result = subprocess.run([sys.executable, here / "peers" / "sklearn_em.py", files / "x.npy", files / "start.npz", str(k), str(iterations)],
                            env={**os.environ, "OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads)}, capture_output=True, text=True, check=True)
    peer, log_likelihood, blas = result.stdout.strip().split("|")
    peer, log_likelihood = float(peer), float(log_likelihood)
    say(f"scikit-learn {sklearn.__version__}, {iterations} iterations of EM, fit alone, {threads} thread(s)", peer, "s",
        f"{peer / seconds['em', threads][0]:.1f} x our whole statement ({blas})")
ours = psql(f"SELECT log_likelihood FROM (SELECT gmm_fit(x, (SELECT model FROM start), '{options}') AS model FROM big) AS f, bayes_info(model);", **memory)[0][-1]
print(f"log-likelihood reached: ours {float(ours):.6f}, scikit-learn {log_likelihood:.6f}")
shutil.rmtree(files)
shutil.rmtree(library)
