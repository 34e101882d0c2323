"""Anomalies: the area under the ROC curve of models that were fitted to the same rows without their
labels, on the 25 sets of tests/data/anomalies (from ADBench, Han, Hu, Huang, Jiang and Zhao 2022).

Run by `make bench`. By the log density of one model, and by bayes_anomaly of several; means of four
seeds, as fits of several components end in different optima. Which models these are was chosen on
every second set, in the order of their numbers, of the twelve and of the thirteen; the means of
these sets and of the other ones are apart. With python3-sklearn also isolation forests (the mean of
five seeds) and the distance to the fifth neighbour, both of columns as they are.
"""
import csv
import gzip
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "peers"))
from session import Session, root

models = {
    "one normal": "gmm_fit(x, 1)",
    "columns": """gmm_fit(x, 1, '{"covariance": "diagonal"}')""",
    "diagonal": """gmm_fit(x, 5, '{"covariance": "diagonal", "seed": SEED}')""",
    "full": """gmm_fit(x, 5, '{"seed": SEED}')""",
    "full, 8": """gmm_fit(x, 8, '{"seed": SEED}')""",
}
# Not shown by itself: so that less depends on the optimum in which one fit ends.
again = """gmm_fit(x, 5, '{"seed": OTHER}')"""
seeds = (1, 2, 3, 4)
peers = ()
try:
    import numpy
    from sklearn.ensemble import IsolationForest
    from sklearn.neighbors import NearestNeighbors
    peers = ("forest", "neighbour")
except ImportError:
    pass
several = ("full", "again", "full, 8", "columns")
# Sets that no earlier recipe was chosen on.
thirteen = (6, 12, 23, 27, 29, 30, 35, 37, 39, 43, 44, 45, 47)
session = Session()
session.run("CREATE TABLE scored (id int, x float8[]);")


def area(scores, labels):
    """under the ROC curve; equal scores count half"""
    order = sorted(range(len(scores)), key=lambda i: scores[i])
    rank, total = 0, 0
    while rank < len(order):
        end = rank
        while end < len(order) and scores[order[end]] == scores[order[rank]]:
            end += 1
        total += sum(labels[i] for i in order[rank:end]) * (rank + end + 1) / 2
        rank = end
    positive = sum(labels)
    return (total - positive * (positive + 1) / 2) / (positive * (len(labels) - positive))


def areas_of_peers(rows, labels):
    x = numpy.array(rows, float)
    forests = [area(-IsolationForest(random_state=seed).fit(x).score_samples(x), labels)
               for seed in range(5)]
    distances, _ = NearestNeighbors(n_neighbors=6).fit(x).kneighbors(x)
    return [statistics.mean(forests), area(distances[:, 5], labels)]


def number(path):
    return int(path.name.split("_")[0])


print(" " * 24 + "".join(f"{name:>12s}" for name in (*models, "several", *peers)))
table = {}
for path in sorted((root / "tests/data/anomalies").glob("*.csv.gz"), key=number):
    with gzip.open(path, "rt") as file:
        rows = list(csv.reader(file))[1:]
    labels = [int(float(row[0])) for row in rows]
    session.run("TRUNCATE scored;")
    session.copy("scored", (f"{i}\t{{{','.join(row[1:])}}}" for i, row in enumerate(rows)))
    array = ", ".join(f'"{name}"' for name in several)
    scores = [f'-bayes_log_density("{name}", x)' for name in models]
    scores.append(f"-bayes_anomaly(ARRAY[{array}], x)")
    found = []
    for seed in seeds:
        fits = ", ".join(f'{fit} AS "{name}"' for name, fit in (*models.items(), ("again", again)))
        fits = fits.replace("SEED", str(seed)).replace("OTHER", str(seed % len(seeds) + 1))
        session.run(f"DROP TABLE IF EXISTS fits; CREATE TABLE fits AS SELECT {fits} FROM scored;")
        lines = session.run(f"SELECT {', '.join(scores)} FROM scored, fits ORDER BY id;")
        columns = zip(*([float(value) for value in line.split("|")] for line in lines))
        found.append([area(each, labels) for each in columns])
    areas = [statistics.mean(each) for each in zip(*found)]
    if peers:
        areas += areas_of_peers([row[1:] for row in rows], labels)
    table[number(path)] = areas
    name = path.name.removesuffix(".csv.gz")
    print(f"{name:24s}" + "".join(f"{value:12.3f}" for value in areas), flush=True)
earlier = [each for each in table if each not in thirteen]
chosen_on = {*earlier[::2], *thirteen[::2]}
for name, sets in {"mean of all": table, "of the twelve": earlier, "of the thirteen": thirteen,
                   "of those chosen on": chosen_on,
                   "of the others": [each for each in table if each not in chosen_on]}.items():
    means = (statistics.mean(each) for each in zip(*(table[each] for each in sets)))
    print(f"{name:24s}" + "".join(f"{value:12.3f}" for value in means))
