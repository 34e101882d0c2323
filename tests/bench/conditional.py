"""Conditional densities: the mean of log p(y | x) on held-out rows, from one mixture of x and y.

Run by `make bench` if BENCH_UCI names a directory with energy.csv, power-plant.csv, wine-red.csv,
concrete.csv, boston.csv and yacht.csv (of the UCI repository; numbers without a header, y last).
BENCH_SPLITS (5) random splits, of which 10 % of the rows are held out. BENCH_FIT: another fit of
the column `x`.
"""
import csv
import os
import random
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "peers"))
from session import Session

if "BENCH_UCI" not in os.environ:
    sys.exit("skipped: BENCH_UCI is not set")
fit = os.environ.get("BENCH_FIT", "gmm_fit(x, 30)")
splits = int(os.environ.get("BENCH_SPLITS", 5))
# Gal and Ghahramani 2016, table 1: MC dropout.
published = {"energy": -1.212, "power-plant": -2.808, "wine-red": -0.928, "concrete": -2.937,
             "boston": -2.402, "yacht": -1.250}
session = Session()
session.run("CREATE TABLE split (id int, x float8[], held_out boolean);")

print(f"{fit}\n{'':12s}{'log p(y|x)':>12s}{'MC dropout':>12s}{'seconds':>9s}")
for name, of_peer in published.items():
    with open(Path(os.environ["BENCH_UCI"]) / f"{name}.csv", encoding="ascii") as file:
        rows = list(csv.reader(file))
    d = len(rows[0])
    given = ",".join(f"x[{j}]" for j in range(1, d))
    asked = "NULL," * (d - 1) + f"x[{d}]"
    means, seconds = [], []
    for seed in range(splits):
        held_out = set(random.Random(seed).sample(range(len(rows)), len(rows) // 10))
        session.run("TRUNCATE split;")
        session.copy("split", (f"{i}\t{{{','.join(row)}}}\t{i in held_out}"
                               for i, row in enumerate(rows)))
        lines, taken = session.timed(f"""WITH f AS MATERIALIZED
            (SELECT {fit} AS m FROM split WHERE NOT held_out)
          SELECT avg(bayes_log_density(m, ARRAY[{asked}]::float8[], ARRAY[{given}, NULL]))
          FROM split, f WHERE held_out;""")
        means.append(float(lines[0]))
        seconds.append(taken)
    print(f"{name:12s}{statistics.mean(means):12.3f}{of_peer:12.3f}{statistics.mean(seconds):9.1f}",
          flush=True)
