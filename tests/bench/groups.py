"""Many small fits in one statement: CPU milliseconds for each group of 100 rows, all options but
those named at their defaults, and in how many groups the best optimum is that of many restarts.

Run by `make bench`; in a session with the extension python3 tests/bench/groups.py [GROUPS], 100 by
default. Groups are of two or three clusters (states, topics, kinds of customers) 1.5, 2.5 or 4
standard deviations apart or alike; a column without clusters beside. A group has the same optimum
if its objective is at most 0.01 below that of 60 restarts (20 of nmf and lda); clear are groups of
clusters at least 2.5 standard deviations apart. CPU time is of the server process, from /proc."""
import json
import random
import subprocess
import sys

groups = int(sys.argv[1]) if len(sys.argv) > 1 else 100


def psql(sql):
    text = "SET client_min_messages = error;\nSET max_parallel_workers_per_gather = 0;\nSET jit = off;\n" + sql
    result = subprocess.run(["psql", "-XAtq", "-F", "\t", "-v", "ON_ERROR_STOP=1"], input=text, capture_output=True, text=True,
                            check=False)
    if result.returncode:
        sys.exit(result.stderr)
    return [line.split("\t") for line in result.stdout.splitlines()]


random.seed(7)
lines = []
for group in range(groups):
    apart = (0, 1.5, 2.5, 4)[group % 4]
    for row in range(100):
        kind = random.randrange(2 + group % 2)
        x = random.gauss(apart * kind, 1), random.gauss(0, 1)
        flags = [random.random() < (0.5 if apart == 0 else (0.8, 0.3, 0.5)[(kind + j) % 3]) for j in range(5)]
        words = [f"w{random.randrange(20) + (10 * kind if apart else 0)}" for _ in range(10)]
        counts = [max(0, int(random.gauss(4 + (apart if j == kind else 0), 2))) for j in range(5)]
        lines.append("\t".join([str(group), str(row), "{%s}" % ",".join(map(str, x)), "{%s}" % ",".join("ft"[f] for f in flags),
                                "{%s}" % ",".join(words), "{%s}" % ",".join(map(str, counts)), str(x[0])]))
psql("DROP TABLE IF EXISTS small, steps;\nCREATE TABLE small (g int, i int, x float8[], b bool[], w text[], n float8[], y float8);\n"
     "COPY small FROM stdin;\n" + "\n".join(lines) + "\n\\.\n"
     "CREATE TABLE steps AS SELECT g, array_agg(y + (i / 10 % 2) ORDER BY i) AS s FROM small GROUP BY g;\nANALYZE small, steps;")

cpu = "SELECT split_part(s, ' ', 14)::int + split_part(s, ' ', 15)::int FROM pg_read_file('/proc/self/stat') AS s;\n"
fits = [
    ("gmm, one column", "gmm_fit(y, 2, %s)", "small", {}, 60),
    ("gmm, two columns", "gmm_fit(x, 2, %s)", "small", {}, 60),
    ("gmm em, two columns", "gmm_fit(x, 2, %s)", "small", {"method": "em"}, 60),
    ("bmm, five columns", "bmm_fit(b, 2, %s)", "small", {}, 60),
    ("hmm, one sequence", "hmm_fit(s, 2, %s)", "steps", {}, 60),
    ("lda, ten words each", "lda_fit(w, 2, %s)", "small", {}, 20),
    ("lda, two restarts", "lda_fit(w, 2, %s)", "small", {"restarts": 2}, 20),
    ("nmf, five columns", "nmf_fit(n, 2, %s)", "small", {}, 20),
    ("nmf, two restarts", "nmf_fit(n, 2, %s)", "small", {"restarts": 2}, 20),
    ("dpmm vi, one column", "dpmm_fit(y, %s)", "small", {"method": "vi"}, 60),
    ("dpmm vi, 3 restarts", "dpmm_fit(y, %s)", "small", {"method": "vi", "restarts": 3}, 60),
    ("dpmm, one column", "dpmm_fit(y, %s)", "small", {}, 0),
]


def fit_of_groups(call, table, options):
    given = f"'{json.dumps(options)}'::jsonb"
    return f"SELECT g, {call % given} AS m FROM {table} GROUP BY g"


print(f"{'':22s}{'ms a group':>12s}{'same optimum':>14s}{'if clear':>14s}{'restarts':>10s}")
for name, call, table, options, many in fits:
    default = fit_of_groups(call, table, options)
    out = psql(f"CREATE TEMP TABLE before AS {cpu}CREATE TEMP TABLE few AS {default};\nCREATE TEMP TABLE after AS {cpu}"
               "SELECT (SELECT * FROM after) - (SELECT * FROM before),"
               " (SELECT avg((i.options->>'restarts')::int) FROM few, bayes_info(m) AS i);")
    ticks, made = int(out[0][0]), out[0][1]
    same = "nan", "nan"
    if many:
        long = fit_of_groups(call, table, options | {"restarts": many})
        same = psql("SELECT avg(same), avg(same) FILTER (WHERE g % 4 > 1) FROM (SELECT few.g, (a.objective > b.objective - 0.01)::int AS same"
                    f" FROM ({default}) AS few, ({long}) AS long,"
                    " bayes_info(few.m) AS a, bayes_info(long.m) AS b WHERE few.g = long.g) AS s")[0]
    print(f"{name:22s}{10 * ticks / groups:12.2f}" + "".join(f"{float(s):14.2f}" for s in same) + f"{float(made or 'nan'):10.1f}", flush=True)
