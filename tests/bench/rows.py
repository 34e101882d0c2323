"""What the form of rows costs: records beside arrays, texts beside the integers that stand for
them, rows with NULLs beside complete ones.

Run by `make bench`. CPU seconds of whole SQL statements over 1,000,000 rows, one thread, in turn; of
BENCH_RUNS (5) runs the median of the first statement, and of the ratios of the second to it.
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "peers"))
from session import Session, runs

session = Session()
compare = session.compare


def names(letter, count):
    return ", ".join(f"{letter}{i}" for i in range(1, count + 1))


def columns(expression, count):
    return ", ".join(expression.replace("#", str(i)) for i in range(1, count + 1))
print(f"1000000 rows, CPU seconds of one thread, medians of {runs} runs")
session.run(f"""
SET maintenance_work_mem = '2GB';
SELECT setseed(0.5);
CREATE TABLE complete AS SELECT i,
  {columns("(i % 3) * (1 + # % 4) / 4.0 + random() + random() - random() AS x#", 16)}
FROM generate_series(1, 1000000) AS i;
CREATE TABLE incomplete AS
SELECT {columns("CASE WHEN # > 3 OR random() > 0.05 THEN x# END AS x#", 16)} FROM complete;
CREATE TABLE patchy AS
SELECT {columns("CASE WHEN random() > 0.05 THEN x# END AS x#", 16)} FROM complete;
CREATE TABLE categories AS
SELECT {columns("(i * (7 + 2 * #) + i / 5) % 12 AS c#", 6)},
  {columns("'category ' || (i * (7 + 2 * #) + i / 5) % 12 AS l#", 6)} FROM complete;
CREATE TABLE models AS SELECT gmm_fit(r, 3, '{{"restarts": 1}}') AS model
FROM (SELECT {names("x", 10)} FROM complete WHERE i <= 2000) AS r;
CREATE TYPE ten AS ({", ".join(f"x{i} float8" for i in range(1, 11))});
CREATE TABLE steps AS SELECT i, i / 1000 AS sequence, ARRAY[{names("x", 10)}] AS vector,
  ROW({names("x", 10)})::ten AS record FROM complete;
CREATE TABLE sequences AS SELECT array_agg(vector ORDER BY i) AS vectors,
  array_agg(record ORDER BY i) AS records FROM steps GROUP BY sequence;
CREATE TABLE chains AS SELECT hmm_fit(records, 3, '{{"restarts": 1, "max_iter": 5}}') AS model
FROM (SELECT records FROM sequences LIMIT 2) AS s;
VACUUM ANALYZE;""")
ten, all16 = names("x", 10), names("x", 16)
least = '"restarts": 1, "max_iter": 1'
compare("loading 10 columns: an array, then a record",
        f"SELECT gmm_fit(ARRAY[{ten}], 1, '{{{least}}}') IS NULL FROM complete;",
        f"""SELECT gmm_fit(r, 1, '{{{least}}}') IS NULL
        FROM (SELECT {ten} FROM complete) AS r;""")
compare("scoring 10 columns: an array, then a record",
        f"SELECT sum(gmm_predict(model, ARRAY[{ten}])) FROM models, complete;",
        f"""SELECT sum(gmm_predict(model, r))
        FROM models, (SELECT {ten} FROM complete OFFSET 0) AS r;""")
for function in "hmm_log_likelihood", "hmm_decode":
    for what, vectors, records in (
            ("stored sequences", *(f"(SELECT {form} AS x FROM sequences OFFSET 0)"
                                   for form in ("vectors", "records"))),
            ("sequences in the making", *(f"""(SELECT array_agg({form} ORDER BY i) AS x
                                          FROM steps GROUP BY sequence)"""
                                          for form in ("vector", "record")))):
        compare(f"{function}, 10 columns, {what}: vectors, then records",
                *(f"SELECT count({function}((SELECT model FROM chains), x)) FROM {rows} AS s;"
                  for rows in (vectors, records)))
compare("6 columns of 12 categories: integers, then texts",
        f"""SELECT bmm_fit(r, 2, '{{{least}, "likelihood": "categorical"}}') IS NULL
        FROM (SELECT {names("c", 6)} FROM categories) AS r;""",
        f"""SELECT bmm_fit(r, 2, '{{{least}}}') IS NULL
        FROM (SELECT {names("l", 6)} FROM categories) AS r;""")
for what, function, options in (
        ("full", "gmm_fit", ', "covariance": "full"'),
        ("diagonal", "gmm_fit", ', "covariance": "diagonal"'),
        ("product of normals", "bmm_fit", "")):
    complete, incomplete, patchy = (
        f"""SELECT {function}(r, 3, '{{"restarts": 1, "max_iter": 30, "tol": 0,
        "missing": "marginalize"{options}}}') IS NULL FROM (SELECT {all16} FROM {table}) AS r;"""
        for table in ("complete", "incomplete", "patchy"))
    compare(f"16 columns, {what}: complete, then 5 % NULLs in 3", complete, incomplete)
    if what != "full":
        compare(f"16 columns, {what}: complete, then 5 % NULLs in all", complete, patchy)
