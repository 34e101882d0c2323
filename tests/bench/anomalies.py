"""Anomalies: the area under the ROC curve of the log density of a model that was fitted to the same
rows without their labels, on the twelve sets of tests/data/anomalies (from ADBench, Han, Hu,
Huang, Jiang and Zhao 2022).

Run by `make bench`. By one model, and by three together: the sum of their log densities. With
python3-sklearn also isolation forests (of the mean of five seeds) and the distance to the fifth
neighbour, both of columns as they are.
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
    "diagonal": """gmm_fit(x, 5, '{"covariance": "diagonal"}')""",
    "full": "gmm_fit(x, 5)",
}
peers = ()
try:
    import numpy
    from sklearn.ensemble import IsolationForest
    from sklearn.neighbors import NearestNeighbors
    peers = ("forest", "neighbour")
except ImportError:
    pass
together = ("columns", "diagonal", "full")
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


print(" " * 24 + "".join(f"{name:>12s}" for name in (*models, "together", *peers)))
table = []
for path in sorted((root / "tests/data/anomalies").glob("*.csv.gz")):
    with gzip.open(path, "rt") as file:
        rows = list(csv.reader(file))[1:]
    labels = [int(float(row[0])) for row in rows]
    session.run("TRUNCATE scored;")
    session.copy("scored", (f"{i}\t{{{','.join(row[1:])}}}" for i, row in enumerate(rows)))
    scores = {}
    for name, fit in models.items():
        lines = session.run(f"""WITH f AS MATERIALIZED (SELECT {fit} AS m FROM scored)
          SELECT -bayes_log_density(m, x) FROM scored, f ORDER BY id;""")
        scores[name] = [float(line) for line in lines]
    scores["together"] = [sum(each) for each in zip(*(scores[name] for name in together))]
    table.append([area(each, labels) for each in scores.values()])
    if peers:
        table[-1] += areas_of_peers([row[1:] for row in rows], labels)
    name = path.name.removesuffix(".csv.gz")
    print(f"{name:24s}" + "".join(f"{value:12.3f}" for value in table[-1]), flush=True)
print(f"{'mean':24s}" + "".join(f"{statistics.mean(each):12.3f}" for each in zip(*table)))
