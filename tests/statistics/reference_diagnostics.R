#!/usr/bin/Rscript
# Reference figures for tests/core/diagnostics_test.cpp from R's posterior (Debian: r-cran-posterior).
#
# Writes, beside this script, reference/diagnostics_posterior.csv: parameters of made-up chains, and what posterior says of them. The test
# makes the same chains from the same parameters. Run by hand when cases change:  tests/statistics/reference_diagnostics.R
suppressMessages(library(posterior))
here <- dirname(normalizePath(sub("--file=", "", grep("--file=", commandArgs(FALSE), value = TRUE))))

# x = rho x + noise e from `start`, e a sum of three uniform numbers by a generator that doubles do exactly (Lehmer; its state begins at
# the number of the case); then a drift, in the last chain a scale and a shift, a cube, steps.
make <- function(seed, p) {
  state <- seed
  uniform <- function() {
    state <<- (16807 * state) %% 2147483647
    state / 2147483647
  }
  sapply(seq_len(p$chains), function(chain) {
    x <- p$start
    sapply(seq_len(p$draws), function(draw) {
      x <<- p$rho * x + p$noise * (uniform() + uniform() + uniform() - 1.5)
      value <- x + p$drift * draw
      if (chain == p$chains) value <- value * p$scale + p$shift
      if (p$cube) value <- value * value * value
      if (p$steps > 0) floor(value * p$steps) else value
    })
  })
}

case <- function(name, chains, draws, start = 0, rho = 0, noise = 1, drift = 0, scale = 1, shift = 0, cube = 0, steps = 0)
  data.frame(name, chains, draws, start, rho, noise, drift, scale, shift, cube, steps)
cases <- rbind(
  case("independent", 4, 1000),
  case("independent one chain", 1, 1000),
  case("independent odd", 3, 997),
  case("slow", 4, 1000, rho = 0.9),
  case("slow one chain", 1, 5000, rho = 0.9),
  case("very slow", 4, 500, rho = 0.99),
  case("walk", 4, 400, rho = 1),
  case("antithetic", 4, 1000, rho = -0.5),
  case("antithetic one chain", 1, 1001, rho = -0.9),
  case("drift", 4, 300, drift = 0.01),
  case("drift alone", 1, 200, noise = 0, drift = 1),
  case("shifted", 4, 1000, shift = 0.3),
  case("shifted far", 2, 100, shift = 10),
  case("wider", 4, 1000, scale = 3),
  case("heavy tails", 4, 1000, rho = 0.5, cube = 1),
  case("counts", 4, 1000, rho = 0.8, steps = 2),
  case("few values", 3, 501, rho = 0.5, steps = 0.75),
  case("two values", 4, 250, rho = 0.5, steps = 0.5),
  case("large", 2, 300, rho = 0.5, noise = 1e150),
  case("small", 2, 300, rho = 0.5, noise = 1e-12),
  case("stuck apart", 2, 100, noise = 0, shift = 1),
  case("stuck apart three", 3, 101, noise = 0, shift = 1),
  case("equal", 2, 100, noise = 0, start = 1, rho = 1),
  do.call(rbind, lapply(c(2:17, 23, 24, 25), function(n) case(paste("draws", n), 1, n, rho = 0.3))),
  do.call(rbind, lapply(c(4, 6, 11, 12, 13, 14), function(n) case(paste("four chains of", n), 4, n, rho = 0.6))))

results <- do.call(rbind, lapply(seq_len(nrow(cases)), function(i) {
  x <- make(i, cases[i, ])
  suppressWarnings(data.frame(rhat = rhat(x), ess_bulk = ess_bulk(x), ess_tail = ess_tail(x), mcse = mcse_mean(x)))
}))
results[] <- lapply(results, function(v) ifelse(is.na(v), "NA", sprintf("%.17g", v)))
out <- cbind(cases, results)
cat("# posterior", as.character(packageVersion("posterior")), "\n", file = stderr())
write.csv(out, file.path(here, "reference", "diagnostics_posterior.csv"), row.names = FALSE, quote = FALSE)
