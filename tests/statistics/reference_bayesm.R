# The number of clusters of a Dirichlet process mixture by R's bayesm (rDPGibbs), for tests/statistics/dpmm_peers_test.cpp and docs/dpmm.md.
#
#   Rscript tests/statistics/reference_bayesm.R      in the top directory; needs r-cran-bayesm; some minutes
#
# bayesm draws its hyperparameters from intervals; intervals of hardly any width fix them, so that both programs sample one posterior: columns
# standardised, m = 0, c = 0.1, a = 5, B = 0.5 I, and the concentration that the interval for the expected number of clusters gives.
suppressMessages(library(bayesm))
set.seed(1)
data <- list(galaxies = read.csv("tests/data/galaxies.csv")[, "velocity", drop = FALSE],
             faithful = read.csv("tests/data/faithful.csv")[, c("eruptions", "waiting")])
rows <- NULL
for (name in names(data)) {
  y <- scale(as.matrix(data[[name]]))
  d <- ncol(y)
  nu <- 5
  v <- 0.5 / nu
  near <- function(x) c(x, x * (1 + 1e-9))
  capture.output(r <- rDPGibbs(
    Prior = list(Prioralpha = list(Istarmin = 4, Istarmax = 4.0001, power = 0.8),
                 lambda_hyper = list(alim = near(0.1), nulim = near(log(nu - d + 1)), vlim = near(v))),
    Data = list(y = y), Mcmc = list(R = 60000, keep = 1, maxuniq = 200, SCALE = FALSE, gridsize = 2)))
  clusters <- r$Istardraw[-(1:10000)]
  stopifnot(diff(range(r$alphadraw)) < 1e-3, diff(range(r$nudraw)) < 1e-6)
  cat(name, "alpha", mean(r$alphadraw), "nu", mean(r$nudraw), "v", mean(r$vdraw), "a", mean(r$adraw), "\n")
  share <- table(clusters) / length(clusters)
  rows <- rbind(rows, data.frame(data = name, concentration = mean(r$alphadraw), clusters = as.integer(names(share)), probability = as.numeric(share)))
}
write.csv(rows, "tests/statistics/reference/dpmm_bayesm.csv", row.names = FALSE)
