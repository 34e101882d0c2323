"""Hidden Markov models as whole SQL statements, against the floor of a window function that does nothing.

Run by `make bench`. BENCH_RUNS (3): number of runs of which medians are shown. GHMM is measured by tests/bench/peers/ghmm_em.c."""
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

runs = int(os.environ.get("BENCH_RUNS", 3))
here = Path(__file__).parent


def psql(sql):
    """Runs statements in one session; returns the milliseconds of each."""
    head = "SET client_min_messages = error; SET jit = off; SET max_parallel_workers_per_gather = 0; SET work_mem = '1GB'; SET pg_bayes.threads = 1;\n\\timing on\n"
    result = subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1"], input=head + sql, capture_output=True, text=True, check=False)
    if result.returncode:
        sys.exit(result.stderr)
    return [float(t) for t in re.findall(r"^Time: ([0-9.]+) ms", result.stdout, re.M)]


def median_seconds(sql):
    return statistics.median(psql(sql)[-1] for _ in range(runs)) / 1000


def say(text, value, unit="s", note=""):
    print(f"{text:68s} {value:9.3f} {unit:3s} {note}", flush=True)


library = Path(tempfile.mkdtemp())
library.chmod(0o755)
include = subprocess.run([os.environ.get("PG_CONFIG", "pg_config"), "--includedir-server"], capture_output=True, text=True, check=True).stdout.strip()
subprocess.run(["cc", "-O2", "-fPIC", "-shared", "-I", include, "-o", library / "identity.so", here / "peers" / "identity.c"], check=True)
psql(f"""
CREATE FUNCTION identity_window(int) RETURNS int AS '{library}/identity', 'identity_window' LANGUAGE C WINDOW IMMUTABLE;
SELECT setseed(0.5);
CREATE TABLE steps AS SELECT s, t, ((s * 7 + t / 5 * 3) % 10 * 5 + (random() * 5)::int) % 50 AS symbol FROM generate_series(1, 1000) AS s, generate_series(1, 1000) AS t ORDER BY s, t;
CREATE TABLE sequences AS SELECT s, array_agg(symbol ORDER BY t) AS x FROM steps GROUP BY s;
ALTER TABLE steps ADD PRIMARY KEY (s, t);
VACUUM ANALYZE steps;
VACUUM ANALYZE sequences;
CREATE TABLE model AS SELECT hmm_fit(x, 10, '{{"method": "em", "restarts": 1, "max_iter": 5, "tol": 0}}') AS model FROM sequences;
SELECT count(*), sum(symbol) FROM steps;
""")
print(f"1000 sequences of 1000 steps, 50 symbols, 10 states, one thread; medians of {runs} runs")
for method in ("em", "vi", "gibbs"):
    count = '"draws": 20, "warmup": 10, "chains": 1' if method == "gibbs" else '"restarts": 1, "max_iter": 20, "tol": 0'
    whole = median_seconds(f"""SELECT hmm_fit(x, 10, '{{"method": "{method}", {count}}}') IS NULL FROM sequences;""")
    say(f"{method}, 20 iterations, whole statement", whole, "s", f"{20 / whole:.1f} M steps/s an iteration")
for partitions, name in (("PARTITION BY s ORDER BY t", "1000 partitions"), ("ORDER BY s, t", "one partition"), ("PARTITION BY s, t", "1,000,000 partitions")):
    floor = median_seconds(f"SELECT sum(v) FROM (SELECT identity_window(symbol) OVER ({partitions}) AS v FROM steps) AS w;")
    say(f"floor: a window function that gives its argument, {name}", floor)
    for function in ("hmm_decode", "hmm_probabilities", "hmm_filter"):
        value = f"{function}((SELECT model FROM model), symbol)"
        seconds = median_seconds(f"SELECT count(v) FROM (SELECT {value} OVER ({partitions}) AS v FROM steps) AS w;")
        say(f"{function} OVER ({partitions})", seconds, "s", f"{seconds / floor:.2f} x floor")
whole = median_seconds("SELECT sum(array_length(hmm_decode((SELECT model FROM model), x), 1)) FROM sequences;")
say("hmm_decode of arrays", whole, "s", f"{1 / whole:.1f} M steps/s")
shutil.rmtree(library)
