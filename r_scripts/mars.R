# mda::mars for one response and for many.

fit.mars <- function(x, y, options)
  eval(as.call(c(quote(mda::mars), list(x = quote(x), y = quote(y)), options)))

# earth's own conversion of an mda model (mars.to.earth) describes it in earth's terms.
mars.one <- function(x, y, options) {
  fit <- fit.mars(x, y, options)
  as.earth <- earth::mars.to.earth(fit, trace = FALSE)
  c(describe.earth(as.earth), list(mars.gcv = fit$gcv, object = serialize(as.earth, NULL)))
}

# Fitted values and numbers of terms for every column of Y, in one call.
mars.many <- function(x, Y, options) {
  fitted <- matrix(0, nrow(Y), ncol(Y))
  terms <- numeric(ncol(Y))
  for (j in seq_len(ncol(Y))) {
    fit <- at.column(j, fit.mars(x, Y[, j], options))
    fitted[, j] <- fit$fitted.values
    terms[j] <- length(fit$selected.terms)
  }
  list(fitted = fitted, terms = terms)
}
