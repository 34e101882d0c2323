"""Errors of held-out ratings and speed of pmf_fit, and of other Bayesian matrix factorizations.

Run by `make bench`. Data: 900,000 ratings drawn from the model with rank 16 (noise of standard
deviation 0.7), and those of lectures in tests/data, of which every tenth is held out; or two files
that RATINGS names with a colon between (ml-100k/u1.base:ml-100k/u1.test), of lines with row, column
and rating. BENCH_DRAWS (300): the sweeps of one chain, of which the first third is left out.

With the prior of BPMF (Salakhutdinov and Mnih 2008), the noise's precision given, ratings in units
of their standard deviation: pmf_fit, and SMURFF's BPMF (its Python module `smurff`), which has the
same prior. With row and column means, and everything learned: pmf_fit, and libFM's MCMC (the
program `libFM`). What is not installed is left out. CPU seconds of one thread.
"""
import os

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import json
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.sparse

sys.path.insert(0, str(Path(__file__).parent / "peers"))
from session import Session, root

sweeps = int(os.environ.get("BENCH_DRAWS", 300))
warmup = sweeps // 3


def synthetic():
    rng = np.random.default_rng(109)
    rows, columns, rank, n = 6_000, 4_000, 16, 1_000_000
    u, v = rng.standard_normal((rows, rank)) * 0.35, rng.standard_normal((columns, rank)) * 0.35
    i = rng.choice(rows, n + n // 10, p=rng.dirichlet(np.full(rows, 1.0)))
    j = rng.choice(columns, n + n // 10, p=rng.dirichlet(np.full(columns, 0.7)))
    i, j = np.divmod(rng.permutation(np.unique(i * columns + j)), columns)
    x = 3.5 + (u[i] * v[j]).sum(1) + 0.7 * rng.standard_normal(len(i))
    held_out = np.arange(len(i)) % 10 == 0
    table = np.c_[i, j, x]
    return table[~held_out], table[held_out]


def lectures():
    table = np.loadtxt(root / "tests/data/lectures.csv", delimiter=",", skiprows=1)[:, [0, 1, 3]]
    held_out = np.random.default_rng(1).permutation(len(table)) % 10 == 0
    return table[~held_out], table[held_out]


def say(name, rmse, seconds, ratings, note=""):
    print(f"{name:44s} {rmse:8.4f} {seconds:9.1f} {sweeps * ratings / seconds / 1e6:8.2f}  {note}",
          flush=True)


def ours(session, name, train, test, rank, options):
    session.run("DROP TABLE IF EXISTS train, test, model; "
                "CREATE TABLE train (i int, j int, x float8); CREATE TABLE test (LIKE train);")
    for table, cells in (("train", train), ("test", test)):
        session.copy(table, (f"{i:.0f}\t{j:.0f}\t{x:.17g}" for i, j, x in cells))
    options = {"chains": 1, "draws": sweeps, "warmup": warmup, "stored_draws": sweeps} | options
    _, seconds = session.timed(f"""CREATE TABLE model AS
      SELECT pmf_fit(i, j, x, {rank}, '{json.dumps(options)}') AS model FROM train;""")
    found = session.run("""SELECT sqrt(avg((x - mean) ^ 2)),
      avg((abs(x - mean) < 0.67449 * sd)::int), avg((abs(x - mean) < 1.64485 * sd)::int)
      FROM model, test, pmf_predict(model, i, j);""")[0]
    rmse, half, most = map(float, found.split("|"))
    say(name, rmse, seconds, len(train), f"{100 * half:.1f} % and {100 * most:.1f} % within the "
        "intervals of 50 % and 90 %")
    return rmse, seconds


def smurffs(train, test, rank, precision):
    import smurff
    shape = tuple(int(max(train[:, k].max(), test[:, k].max())) + 1 for k in (0, 1))
    table = [scipy.sparse.coo_matrix((x[:, 2], (x[:, 0].astype(int), x[:, 1].astype(int))), shape)
             for x in (train, test)]
    begin = time.process_time()
    session = smurff.TrainSession(priors=["normal", "normal"], num_latent=rank, burnin=warmup,
                                  nsamples=sweeps - warmup, num_threads=1, seed=1, verbose=0)
    session.addTrainAndTest(*table, smurff.FixedNoise(precision))
    session.run()
    return session.getRmseAvg(), time.process_time() - begin


def libfms(train, test, rank):
    columns = int(max(train[:, 0].max(), test[:, 0].max())) + 1
    with tempfile.TemporaryDirectory() as directory:
        for name, cells in (("train", train), ("test", test)):
            Path(directory, name).write_text("".join(
                f"{x:.9g} {i:.0f}:1 {columns + j:.0f}:1\n" for i, j, x in cells))
        begin = resource.getrusage(resource.RUSAGE_CHILDREN)
        out = subprocess.run(["libFM", "-task", "r", "-method", "mcmc", "-dim", f"1,1,{rank}",
                              "-iter", str(sweeps), "-train", "train", "-test", "test"],
                             cwd=directory, text=True, capture_output=True, check=True).stdout
        end = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (float(re.findall(r"Test=([0-9.]+)", out)[-1]),
            end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime)


def beside(name, found, ratings, rmse, seconds):
    say(name, *found, ratings, f"our error is {100 * (rmse / found[0] - 1):+.2f} %, CPU seconds 1 "
        f"to {found[1] / seconds:.1f}")


def compare(session, name, train, test, rank, precision):
    n = len(train)
    print(f"{name}: {n} ratings, {len(test)} held out; rank {rank}")
    center, unit = train[:, 2].mean(), train[:, 2].std()
    scaled = [np.c_[x[:, :2], (x[:, 2] - center) / unit] for x in (train, test)]
    bpmf = {"means": False,
            "prior": {"hierarchical": True, "noise_variance": 1 / (precision * unit ** 2)}}
    rmse, seconds = ours(session, "pmf_fit, BPMF's prior, in standard deviations", *scaled, rank,
                         bpmf)
    try:
        beside("SMURFF, BPMF", smurffs(*scaled, rank, precision * unit ** 2), n, rmse, seconds)
    except ImportError:
        print("the Python module smurff is not installed")
    ours(session, "pmf_fit, hierarchical, means", train, test, rank,
         {"prior": {"hierarchical": True}})
    rmse, seconds = ours(session, "pmf_fit", train, test, rank, {})
    if shutil.which("libFM"):
        beside("libFM, MCMC", libfms(train, test, rank), n, rmse, seconds)
    else:
        print("the program libFM is not installed")


session = Session()
print(f"{sweeps} sweeps, the first {warmup} left out\n{'':47s}error   seconds  million ratings a "
      "second and sweep")
if "RATINGS" in os.environ:
    files = os.environ["RATINGS"].split(":")
    compare(session, files[0], *(np.loadtxt(name)[:, :3] for name in files), 10, 2)
else:
    compare(session, "lectures", *lectures(), 8, 1)
    compare(session, "synthetic", *synthetic(), 16, 1 / 0.49)
