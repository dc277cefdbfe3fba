# The ozone table in plain R: 5-fold cross-validation of MARS and of MARS with the corrected penalty.
# Prints one row for each degree: error, its standard error, corrected penalty, corrected error, its
# standard error. Run with: Rscript ozone.R

suppressMessages(library(earth))
data(ozone1, package = "earth")

corrected.penalty <- function(n, p, nk, degree, n.rep = 100) {
  set.seed(1234)
  y <- matrix(rnorm(n * n.rep), n)
  x <- matrix(rnorm(n * p), n)
  fitted <- matrix(0, n, n.rep)
  terms <- numeric(n.rep)
  for (j in seq_len(n.rep)) {
    fit <- earth(x, y[, j], nk = nk, pmethod = "none", thresh = 0, degree = degree,
                 penalty = degree + 1)
    fitted[, j] <- fit$fitted.values
    terms[j] <- nrow(fit$dirs)
  }
  df <- sum((fitted - rowMeans(fitted)) * (y - rowMeans(y))) / (n.rep - 1)
  2 * max(df - mean(terms), 0) / (mean(terms) - 1)
}

set.seed(1234)
folds <- rep(1:5, each = 66)[sample(1:330, 330)]

errors <- function(degree, ...) sapply(1:5, function(k) {
  fit <- earth(O3 ~ ., data = ozone1[folds != k, ], degree = degree, ...)
  mean((predict(fit, ozone1[folds == k, ]) - ozone1$O3[folds == k])^2)
})

for (degree in 1:2) {
  penalty <- corrected.penalty(sum(folds != 1), 9, 21, degree)
  default <- errors(degree)
  corrected <- errors(degree, penalty = penalty)
  row <- c(mean(default), sd(default) / sqrt(5), penalty, mean(corrected), sd(corrected) / sqrt(5))
  cat(sprintf("%.12g", row), "\n")
}
