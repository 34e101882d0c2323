#!/usr/bin/Rscript
# Reference figures for tests/core/gmm_peers_test.cpp from R's mclust (Debian: r-cran-mclust).
#
# Writes, beside this script, reference/optima_mclust.csv: for every data set, k and covariance the log-likelihood that mclust finds from its
# hierarchical start ("usual"), and the best over that and many k-means starts ("best"). Run by hand when data sets change:  tests/statistics/reference_mclust.R
suppressMessages(library(mclust))
here <- dirname(normalizePath(sub("--file=", "", grep("--file=", commandArgs(FALSE), value = TRUE))))
seeds <- 30
# See reference_sklearn.py.
left_out <- list(iris = "species", wine = "class", diabetes = "sex")
models <- c(full = "VVV", diagonal = "VVI", spherical = "VII", tied = "EEE")
control <- emControl(tol = c(1e-12, 1e-12), itmax = 5000, eps = 0)

# The smallest eigenvalue of a covariance in units of the columns' deviations.
thinnest <- function(fit, x, covariance) {
  s <- sqrt(colMeans(sweep(x, 2, colMeans(x))^2))
  sigma <- fit$parameters$variance$sigma
  if (covariance == "spherical") return(min(fit$parameters$variance$sigmasq) / mean(s^2))
  min(apply(sigma, 3, function(m) min(eigen(m / outer(s, s), symmetric = TRUE)$values)))
}

out <- data.frame()
for (name in c("faithful", "iris", "wine", "diabetes", "quakes")) {
  x <- read.csv(file.path(here, "..", "data", paste0(name, ".csv")))
  x <- as.matrix(x[, setdiff(names(x), left_out[[name]])])
  for (k in c(2, 3, 5)) for (covariance in names(models)) {
    best <- NULL
    keep <- function(effort)
      if (!is.null(best))
        out <<- rbind(out, data.frame(data = name, k = k, covariance = covariance, software = "mclust", version = as.character(packageVersion("mclust")),
                                      effort = effort, log_likelihood = sprintf("%.17g", best[1]), thinnest = sprintf("%.3g", best[2])))
    for (seed in 0:seeds) {
      set.seed(seed)
      start <- if (seed == 0) hclass(hc(x, modelName = "VVV", use = "SVD"), k) else kmeans(scale(x), k, nstart = 1)$cluster
      fit <- tryCatch(me(data = x, modelName = models[[covariance]], z = unmap(start), control = control), error = function(e) NULL)
      if (!is.null(fit) && !is.na(fit$loglik)) {
        thin <- thinnest(fit, x, covariance)
        # Below our floor the likelihood is unbounded: nothing to compare with.
        if (!is.na(thin) && thin >= 1e-6 && (is.null(best) || fit$loglik > best[1])) best <- c(fit$loglik, thin)
      }
      if (seed == 0) keep("usual")  # what mclust does by itself: a start from hierarchical clustering
    }
    keep("best")
  }
}
dir.create(file.path(here, "reference"), showWarnings = FALSE)
write.csv(out, file.path(here, "reference", "optima_mclust.csv"), row.names = FALSE, quote = FALSE)
