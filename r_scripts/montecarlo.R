# Many responses on one design in a single call, with the loop in R.

# Fit every column of Y; return the fitted values and the number of terms of each.
# A failing column stops the block, and the error reports its number.
earth.many <- function(x, Y, options) {
  fitted <- matrix(0, nrow(Y), ncol(Y))
  terms <- numeric(ncol(Y))
  for (j in seq_len(ncol(Y))) {
    fit <- at.column(j, fit.earth(x, Y[, j], NULL, options))
    fitted[, j] <- fit$fitted.values
    terms[j] <- length(fit$selected.terms)
  }
  list(fitted = fitted, terms = terms)
}

# One unpruned forward pass for every column of Y: its basis, directions, cuts and stopping reason.
earth.passes <- function(x, Y, options) {
  lapply(seq_len(ncol(Y)), function(j) {
    fit <- at.column(j, fit.earth(x, Y[, j], NULL, options))
    list(bx = unname(fit$bx), dirs = unname(fit$dirs), cuts = unname(fit$cuts),
         termcond = fit$termcond)
  })
}
