# earth for one response. `options` is a named list in R's own names; what is absent has earth's default.

fit.earth <- function(x, y, weights, options) {
  args <- c(list(x = quote(x), y = quote(y)), options)
  if (!is.null(weights)) args$weights <- quote(weights)
  if (!is.null(options$allowed)) {
    allowed <- allowed.function(options$allowed)
    args$allowed <- quote(allowed)
  }
  # Symbols, not values, so that $call stays short: a call with the data in it is slow to deparse.
  eval(as.call(c(quote(earth::earth), args)))
}

# A function from Python arrives as a number; earth wants the argument names that it documents.
allowed.function <- function(number) {
  function(degree, pred, parents, namesx, first)
    python.call(number, degree, pred, parents, namesx, first)
}

earth.one <- function(x, y, weights, options) {
  fit <- fit.earth(x, y, weights, options)
  c(describe.earth(fit), list(object = serialize(fit, NULL)))
}

# What Python keeps of a fit, without dimnames; names go as character vectors of their own.
describe.earth <- function(fit) {
  list(
    dirs = unname(fit$dirs), cuts = unname(fit$cuts), term.names = rownames(fit$dirs),
    selected = fit$selected.terms, coef = as.vector(fit$coefficients), bx = unname(fit$bx),
    fitted = as.vector(fit$fitted.values), rss = fit$rss, rsq = fit$rsq, gcv = fit$gcv,
    grsq = fit$grsq, rss.per.subset = fit$rss.per.subset, gcv.per.subset = fit$gcv.per.subset,
    prune.terms = unname(fit$prune.terms), leverages = fit$leverages, nk = fit$nk,
    penalty = fit$penalty, termcond = fit$termcond)
}

# R's own text of a fit that was kept as bytes.
earth.summary <- function(object, ...) {
  fit <- unserialize(object)
  utils::capture.output(print(summary(fit, ...)))
}

# Seconds that one earth() call takes inside R, for the benchmark of the bridge.
earth.seconds <- function(x, y, degree) {
  began <- Sys.time()
  earth::earth(x, y, degree = degree)
  as.double(Sys.time() - began, units = "secs")
}

# R's importance of predictors (evimp) of a fit that was kept as bytes.
earth.importance <- function(object) {
  table <- earth::evimp(unserialize(object))
  list(names = rownames(table), values = matrix(table[, c(3, 4, 6)], ncol = 3))
}
