"""Imputation: errors of bayes_impute, coverage of the intervals of bayes_conditional, and seconds, on
the five sets of tests/data/impute.

Run by `make bench`. The protocol is that of ForestDiffusion (Jolicoeur-Martineau, Fatras and
Kachman 2024) and unmasking-trees (McCarter 2024): BENCH_SEEDS (3) seeds; 80 % of the rows, of each
class; 20 % of the cells of the features are left out, y is observed as one more column (a class as
zeros and ones). The error of a cell is |imputed - true| / (largest - smallest); of several
imputations the mean, or the smallest of the row. Columns whose known values are positive and of
skewness above 1 go into the model as logarithms (BENCH_LOGS=0: none do). BENCH_FIT: another fit of
the column `x`. With python3-sklearn also its IterativeImputer by random forests, which is the
algorithm of MissForest, of the values as they are.
"""
import csv
import os
import random
import statistics
import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "peers"))
from session import Session, root
from units import from_units, is_skewed, to_units

peer = False
try:
    import numpy
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer
    warnings.filterwarnings("ignore")
    peer = True
except ImportError:
    pass
fit = os.environ.get(
    "BENCH_FIT", """gmm_fit(x, 15, '{"prior": {"B": "precision", "c": 0.3}, "tol": 0.1}')""")
logs = os.environ.get("BENCH_LOGS", "1") == "1"
seeds = int(os.environ.get("BENCH_SEEDS", 3))
imputations = 5
session = Session()
session.run("CREATE TABLE incomplete (id int, x float8[]);")


def is_number(text):
    try:
        float(text)
        return True
    except ValueError:
        return False


def sample(y, rng):
    """The indices of 80 % of the rows; of each class, if y are classes."""
    classes = [range(len(y))]
    if not all(map(is_number, y)):
        classes = [[i for i in range(len(y)) if y[i] == label] for label in sorted(set(y))]
    return [i for one in classes for i in rng.sample(list(one), round(0.8 * len(one)))]


def numbers(text):
    return [float(number) for number in text.strip("{}").split(",")] if text != "{}" else []


def measure(rows, rng):
    """(error of medians, mean and least error of draws, coverage, seconds)"""
    y = [row[-1] for row in rows]
    labels = [] if all(map(is_number, y)) else sorted(set(y))[:-1]
    rows = [rows[i] for i in sample(y, rng)]
    true = [[float(value) for value in row[:-1]] for row in rows]
    hidden = [[j for j in range(len(x)) if rng.random() < 0.2] for x in true]
    span = [max(column) - min(column) for column in zip(*true)]
    known = []
    for i, (row, x) in enumerate(zip(rows, true)):
        known.append([None if j in hidden[i] else value for j, value in enumerate(x)])
        known[i] += [int(row[-1] == label) for label in labels] if labels else [float(row[-1])]
    skewed = [logs and is_skewed(column) for column in zip(*known)]
    lines = []
    for i, x in enumerate(known):
        values = ["NULL" if value is None else repr(value) for value in to_units(x, skewed)]
        lines.append(f"{i}\t{{{','.join(values)}}}")
    session.run("TRUNCATE incomplete;")
    session.copy("incomplete", lines)

    def errors(i, imputed):
        return [abs(imputed[j] - true[i][j]) / span[j] for j in hidden[i]]

    _, fitting = session.timed(
        f"DROP TABLE IF EXISTS model; CREATE TABLE model AS SELECT {fit} AS m FROM incomplete;")
    filled, filling = session.timed(
        "SELECT bayes_impute(m, x) FROM incomplete, model ORDER BY id;")
    drawn, drawing = session.timed(f"""SELECT drawn FROM incomplete, model,
      bayes_impute(m, x, {imputations}, id) WITH ORDINALITY AS d(drawn, n) ORDER BY id, n;""")
    bounds = session.run("""SELECT ARRAY(SELECT unnest(ARRAY[lower, upper])
      FROM bayes_conditional(m, x, 0.9) ORDER BY element) FROM incomplete, model ORDER BY id;""")
    medians, means, least, covered = [], [], [], []
    for i in range(len(rows)):
        if not hidden[i]:
            continue
        medians += errors(i, from_units(numbers(filled[i]), skewed))
        of_draws = [errors(i, from_units(numbers(draw), skewed))
                    for draw in drawn[imputations * i:imputations * (i + 1)]]
        means += [statistics.mean(of_cell) for of_cell in zip(*of_draws)]
        best = min(of_draws, key=sum)
        least += best
        of_bounds = [skewed[j] for j in hidden[i] for _ in range(2)]
        at = from_units(numbers(bounds[i]), of_bounds)
        covered += [at[2 * n] <= true[i][j] <= at[2 * n + 1] for n, j in enumerate(hidden[i])]
    out = [*map(statistics.mean, (medians, means, least, covered)), fitting + filling + drawing]
    if peer:
        x = numpy.array([[float("nan") if value is None else value for value in row]
                         for row in known])
        begin = time.process_time()
        forests = IterativeImputer(RandomForestRegressor(random_state=0), random_state=0)
        imputed = forests.fit_transform(x)
        taken = time.process_time() - begin
        out += [statistics.mean(cell for i in range(len(rows)) for cell in errors(i, imputed[i])),
                taken]
    return out


print(f"{fit}\n{'':12s}{'medians':>9s}{'draws':>9s}{'least':>9s}{'90 %':>9s}{'seconds':>9s}"
      + (f"{'forests':>9s}{'seconds':>9s}" if peer else ""))
table = []
for path in sorted((root / "tests/data/impute").glob("*.csv")):
    with open(path, encoding="ascii") as file:
        rows = list(csv.reader(file))[1:]
    of_seeds = [measure(rows, random.Random(seed)) for seed in range(seeds)]
    table.append([statistics.mean(column) for column in zip(*of_seeds)])
    print(f"{path.stem:12s}" + "".join(f"{value:9.4f}" for value in table[-1]), flush=True)
print("mean        " + "".join(f"{statistics.mean(column):9.4f}" for column in zip(*table)))
