"""Conditional densities: the mean of log p(y | x) on held-out rows, from one mixture of x and y.

Run by `make bench` if BENCH_UCI names a directory with energy.csv, power-plant.csv, wine-red.csv,
concrete.csv, boston.csv and yacht.csv (of the UCI repository; numbers without a header, y last).
BENCH_SPLITS (5) random splits, of which 10 % of the rows are held out. Columns whose values in the
other rows are positive and of skewness above 1 go into the model as logarithms (BENCH_LOGS=0: none
do); densities are those of y itself, log p(ln y | x) - ln y. BENCH_FIT: another fit of the column
`x`. BENCH_SETS: names of some of the sets.
"""
import csv
import math
import os
import random
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "peers"))
from session import Session
from units import is_skewed, to_units

if "BENCH_UCI" not in os.environ:
    sys.exit("skipped: BENCH_UCI is not set")
fit = os.environ.get("BENCH_FIT", "gmm_fit(x, 60)")
logs = os.environ.get("BENCH_LOGS", "1") == "1"
splits = int(os.environ.get("BENCH_SPLITS", 5))
# Gal and Ghahramani 2016, table 1: MC dropout.
published = {"energy": -1.212, "power-plant": -2.808, "wine-red": -0.928, "concrete": -2.937,
             "boston": -2.402, "yacht": -1.250}
sets = os.environ.get("BENCH_SETS", " ".join(published)).split()
session = Session()
session.run("CREATE TABLE split (id int, x float8[], held_out boolean);")

print(f"{fit}\n{'':12s}{'log p(y|x)':>12s}{'MC dropout':>12s}{'seconds':>9s}")
for name in sets:
    with open(Path(os.environ["BENCH_UCI"]) / f"{name}.csv", encoding="ascii") as file:
        rows = [[float(value) for value in row] for row in csv.reader(file)]
    d = len(rows[0])
    given = ",".join(f"x[{j}]" for j in range(1, d))
    asked = "NULL," * (d - 1) + f"x[{d}]"
    means, seconds = [], []
    for seed in range(splits):
        held_out = set(random.Random(seed).sample(range(len(rows)), len(rows) // 10))
        others = [row for i, row in enumerate(rows) if i not in held_out]
        skewed = [logs and is_skewed(column) for column in zip(*others)]
        unit = statistics.mean(math.log(rows[i][-1]) for i in held_out) if skewed[-1] else 0
        session.run("TRUNCATE split;")
        session.copy("split", (f"{i}\t{{{','.join(map(repr, to_units(row, skewed)))}}}"
                               f"\t{i in held_out}" for i, row in enumerate(rows)))
        lines, taken = session.timed(f"""WITH f AS MATERIALIZED
            (SELECT {fit} AS m FROM split WHERE NOT held_out)
          SELECT avg(bayes_log_density(m, ARRAY[{asked}]::float8[], ARRAY[{given}, NULL]))
          FROM split, f WHERE held_out;""")
        means.append(float(lines[0]) - unit)
        seconds.append(taken)
    print(f"{name:12s}{statistics.mean(means):12.3f}{published[name]:12.3f}"
          f"{statistics.mean(seconds):9.1f}", flush=True)
