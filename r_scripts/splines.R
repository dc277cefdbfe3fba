# R's own splines: bs and ns by least squares, and smooth.spline. One call fits every column of Y.

regression.spline <- function(kind, x, Y, n.basis) {
  make <- if (kind == "bs") splines::bs else splines::ns
  basis <- make(x, df = n.basis, intercept = TRUE)
  decomposed <- qr(basis)
  coefficients <- qr.coef(decomposed, Y)
  coefficients[is.na(coefficients)] <- 0
  list(fitted = qr.fitted(decomposed, Y), trace = decomposed$rank,
       coef = unname(coefficients), basis = matrix(basis, length(x)),
       object = serialize(list(basis = basis, coef = coefficients), NULL))
}

regression.spline.predict <- function(object, x) {
  fit <- unserialize(object)
  as.vector(stats::predict(fit$basis, x) %*% fit$coef)
}

# `options` contains lambda, df, nknots or all.knots with R's names; absent ones have R's default.
smoothing.spline <- function(x, Y, weights, options) {
  args <- c(list(x = x), if (!is.null(weights)) list(w = weights), options)
  fits <- lapply(seq_len(ncol(Y)), function(j)
    at.column(j, do.call(stats::smooth.spline, c(args, list(y = Y[, j])))))
  list(fitted = vapply(fits, function(f) stats::predict(f, x)$y, x),
       trace = vapply(fits, function(f) f$df, 0), n.coef = vapply(fits, function(f) f$fit$nk, 0),
       lambda = vapply(fits, function(f) f$lambda, 0),
       object = serialize(fits[[1]]$fit, NULL))
}

smoothing.spline.predict <- function(object, x)
  stats::predict(unserialize(object), x)$y
