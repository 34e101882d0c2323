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
# It begins with one cluster, moves single rows, and so needs hundreds of sweeps to find some of the ten; its speed is that of the sweeps from the first to the second number.
total <- function(sweeps) {
  set.seed(8)
  seconds <- system.time(capture.output(r <- rDPGibbs(
    Prior = list(Prioralpha = list(Istarmin = 9, Istarmax = 11, power = 0.8)),
    Data = list(y = y), Mcmc = list(R = sweeps, keep = 1, maxuniq = 500))))[["elapsed"]]
  list(seconds = seconds, clusters = tail(r$Istardraw, 1))
}
first <- total(300)
second <- total(500)
cat("bayesm: ", round(n * 200 / (second$seconds - first$seconds)), " rows a second, with ", first$clusters, " to ", second$clusters, " clusters\n", sep = "")
