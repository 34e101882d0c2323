"""Bayes classifiers: what learning and scoring cost beside a trivial aggregate and function over
the same rows, and scikit-learn with what it takes to get the rows there.

Run by `make bench`. CPU seconds of one thread (of scikit-learn all of the process, reading the rows
with COPY included), medians of BENCH_RUNS (5) runs; ratios are of statements that run in turn.
Needs python3-sklearn for its part.
"""
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "peers"))
import topics as lib

runs = int(os.environ.get("BENCH_RUNS", 5))
session = lib.Session()


def compare(what, floor, statement):
    seconds, ratios = [], []
    session.run(floor), session.run(statement)
    for _ in range(runs):
        once = session.timed(floor)[1]
        taken = session.timed(statement)[1]
        ratios.append(taken / once)
        seconds.append(taken)
    print(f"{what:52s} {statistics.median(seconds):7.3f} s, "
          f"{statistics.median(ratios):5.2f} x the floor", flush=True)


print(f"1000000 rows, CPU seconds of one thread, medians of {runs} runs")
session.run("""
SET max_parallel_workers_per_gather = 0;
SET work_mem = '256MB';
CREATE TYPE ten AS (a float8, b float8, c float8, d float8, e float8, f boolean, g boolean,
  h int, i text, j text);
CREATE TABLE rows AS SELECT i % 3 AS label, (i % 3)::text AS name,
  ROW(sin(i) + i % 3, cos(i), sin(i * 2), sin(i * 3), i % 7 * 0.5, i % 2 = 0, i % 5 < i % 3,
    i % 4, 'kind ' || i % 9, 'group ' || i % 5)::ten AS r,
  ARRAY[sin(i) + i % 3, cos(i), sin(i * 2), sin(i * 3), sin(i * 5), i % 7, cos(i * 2), sin(i / 9.0),
    i % 3 + sin(i / 2.0), cos(i / 7.0)] AS x
FROM generate_series(1, 1000000) AS i;
CREATE TABLE flat AS SELECT label, (r).* FROM rows;
CREATE TABLE words AS SELECT i % 2 = 0 AS spam,
  (SELECT jsonb_object_agg('word' || floor(((i * 7919 + j * j * 104729) % 100003) ^ 2 / 2e6)
     + (i % 2) * j, 1 + j % 2) FROM generate_series(1, 20) AS j) AS words
FROM generate_series(1, 100000) AS i;
CREATE TABLE models AS SELECT
  (SELECT nb_fit(label, r, '{"likelihood": {"h": "poisson"}}') FROM rows) AS of_records,
  (SELECT nb_fit(label, x) FROM rows) AS of_arrays,
  (SELECT nb_fit(label, x, '{"covariance": "full"}') FROM rows) AS of_full,
  (SELECT nb_fit(spam, words) FROM words) AS of_words;
VACUUM ANALYZE;""")
poisson = """'{"likelihood": {"h": "poisson"}}'"""
compare("learning from records of 10 columns", "SELECT count(r) FROM rows;",
        f"SELECT nb_fit(label, r, {poisson}) IS NULL FROM rows;")
fields = ", ".join(f"count((r).{field})" for field in "abcdefghij")
compare("the same, beside count() of each field", f"SELECT {fields} FROM rows;",
        f"SELECT nb_fit(label, r, {poisson}) IS NULL FROM rows;")
made = "FROM flat, LATERAL (SELECT a, b, c, d, e, f, g, h, i, j) AS r;"
compare("the same, made of a table's columns", f"SELECT count(num_nulls(r)) {made}",
        f"SELECT nb_fit(label, r, {poisson}) IS NULL {made}")
compare("the same, labels are texts", "SELECT count(r) FROM rows;",
        f"SELECT nb_fit(name, r, {poisson}) IS NULL FROM rows;")
compare("learning from arrays of 10 numbers", "SELECT max(x[10]) FROM rows;",
        "SELECT nb_fit(label, x) IS NULL FROM rows;")
compare("the same with a full covariance", "SELECT max(x[10]) FROM rows;",
        "SELECT nb_fit(label, x, '{\"covariance\": \"full\"}') IS NULL FROM rows;")
compare("learning from 100000 objects of 20 words", "SELECT count(words ? 'x') FROM words;",
        "SELECT nb_fit(spam, words) IS NULL FROM words;")
compare("the same, beside counting their names",
        "SELECT count(name) FROM words, jsonb_object_keys(words) AS name;",
        "SELECT nb_fit(spam, words) IS NULL FROM words;")
compare("scoring records of 10 columns", "SELECT count(num_nulls(r)) FROM rows;",
        "SELECT count(nb_predict(of_records, r)) FROM models, rows;")
compare("scoring rows of a table of them", "SELECT count(num_nulls(t)) FROM flat AS t;",
        "SELECT count(nb_predict(of_records, t)) FROM models, flat AS t;")
compare("the probability of a label", "SELECT count(num_nulls(r)) FROM rows;",
        "SELECT sum(nb_probability(of_records, r, 1)) FROM models, rows;")
compare("scoring arrays of 10 numbers", "SELECT count(num_nulls(x)) FROM rows;",
        "SELECT count(nb_predict(of_arrays, x)) FROM models, rows;")
compare("the same with a full covariance", "SELECT count(num_nulls(x)) FROM rows;",
        "SELECT count(nb_predict(of_full, x)) FROM models, rows;")
compare("scoring 100000 objects of 20 words", "SELECT count(words ? 'x') FROM words;",
        "SELECT count(nb_predict(of_words, words)) FROM models, words;")

try:
    import numpy
    from sklearn.naive_bayes import GaussianNB
except ImportError:
    sys.exit()


def peer():
    before = time.process_time(), os.times().children_user + os.times().children_system
    text = subprocess.run(
        ["psql", "-XAtq", "-c", "COPY (SELECT label, array_to_string(x, ',') FROM rows) "
         "TO STDOUT (FORMAT csv, DELIMITER ';')"], capture_output=True, check=True).stdout
    data = numpy.array(text.replace(b'"', b"").replace(b";", b",").replace(b"\n", b",")
                       .rstrip(b",").split(b","), dtype=float).reshape(-1, 11)
    read = time.process_time() - before[0]
    fitted = GaussianNB().fit(data[:, 1:], data[:, 0])
    learned = time.process_time() - before[0]
    fitted.predict(data[:, 1:])
    return read, learned - read, time.process_time() - before[0] - learned


session.run("SELECT 1")
read, learned, scored = peer()
print(f"GaussianNB of scikit-learn, arrays: reading {read:.2f} s (and COPY in the server), "
      f"learning {learned:.2f} s, scoring {scored:.2f} s")
