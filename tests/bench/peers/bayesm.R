# Rows moved a second by R's bayesm (rDPGibbs), for comparison with tests/bench/samplers.cpp: the same kind of data, 10 clusters in 4 dimensions.
#
#   Rscript tests/bench/peers/bayesm.R      needs r-cran-bayesm
suppressMessages(library(bayesm))
set.seed(7)
n <- 10000
d <- 4
clusters <- 10
centres <- matrix(6 * rnorm(clusters * d), clusters)
y <- centres[sample(clusters, n, TRUE), ] + matrix(rnorm(n * d), n)
sweeps <- 60
# It begins with one cluster and moves single rows; the prior on the concentration asks for about ten clusters, so that it gets there.
seconds <- system.time(capture.output(r <- rDPGibbs(
  Prior = list(Prioralpha = list(Istarmin = 9, Istarmax = 11, power = 0.8)),
  Data = list(y = y), Mcmc = list(R = sweeps, keep = 1, maxuniq = 500))))[["elapsed"]]
cat("bayesm: ", round(n * sweeps / seconds), " rows a second; clusters at the end: ", tail(r$Istardraw, 1), "\n", sep = "")
