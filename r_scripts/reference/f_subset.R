# Lasso against best subset in plain R: degrees of freedom by Algorithm 1 with R's random numbers.
# Prints three rows: the lasso's mean number of nonzeros, its df, and the df of best subset of size 1..10.
# Run with: Rscript f_subset.R
# or with glmnet's convergence threshold: Rscript f_subset.R 1e-20
# or with the number of fits too, and the jackknife errors of both df as two more rows: Rscript f_subset.R 1e-20 20000

suppressMessages({
  library(glmnet)
  library(leaps)
  library(mvtnorm)
})

given <- commandArgs(TRUE)
thresh <- if (length(given)) as.numeric(given[1]) else 1e-7 # glmnet's default

n <- 20
p <- 10
n.fits <- if (length(given) > 1) as.integer(given[2]) else 500
beta <- c(1, 2, 3, 4, 5, 0, 0, 0, 0, 0)
Sigma <- matrix(0, p, p)
Sigma[1:4, 1:4] <- 0.75
Sigma[5:10, 5:10] <- 0.9
diag(Sigma) <- 1
lambdas <- 10^seq(1, -2, length = 10)

set.seed(20210319)
X <- rmvnorm(n, rep(0, p), Sigma)
unused <- rnorm(n)

lasso.fitted <- array(0, c(n, n.fits, length(lambdas)))
subset.fitted <- array(0, c(n, n.fits, p))
nonzeros <- matrix(0, n.fits, length(lambdas))
Y <- matrix(0, n, n.fits)
for (j in seq_len(n.fits)) {
  y <- drop(X %*% beta) + rnorm(n)
  Y[, j] <- y
  lasso <- glmnet(X, y, lambda = lambdas, intercept = FALSE, thresh = thresh, maxit = 1e7)
  lasso.fitted[, j, ] <- predict(lasso, X)
  nonzeros[j, ] <- lasso$df
  subsets <- regsubsets(X, y, intercept = FALSE, nvmax = p)
  members <- summary(subsets)$which
  for (k in seq_len(p))
    subset.fitted[, j, k] <- lm.fit(X[, members[k, ], drop = FALSE], y)$fitted.values
}

# Algorithm 1: the sum of the sample covariances of the fits with the responses, in parts of each fit.
products <- function(fitted) colSums((fitted - rowMeans(fitted)) * (Y - rowMeans(Y)))
df <- function(fitted) sum(products(fitted)) / (n.fits - 1)
# Without a fit, the sum of products decreases by m/(m - 1) times its own.
jackknife.error <- function(fitted) {
  own <- products(fitted)
  left <- (sum(own) - n.fits / (n.fits - 1) * own) / (n.fits - 2)
  sqrt((n.fits - 1) / n.fits * sum((left - mean(left))^2))
}
rows <- list(colMeans(nonzeros), apply(lasso.fitted, 3, df), apply(subset.fitted, 3, df))
if (length(given) > 1)
  rows <- c(rows, list(apply(lasso.fitted, 3, jackknife.error), apply(subset.fitted, 3, jackknife.error)))
for (row in rows) cat(sprintf("%.12g", row), "\n")
