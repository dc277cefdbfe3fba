# earth for one model. `options` is a named list with R's names; absent options have earth's defaults.
# x is a matrix, or a data frame if there are factors.

fit.earth <- function(x, y, weights, options, seed = NULL, object = NULL, subset = NULL) {
  args <- c(list(x = quote(x), y = quote(y)), language.options(options, environment()))
  if (!is.null(weights)) args$weights <- quote(weights)
  if (!is.null(subset)) args$subset <- quote(subset)
  if (!is.null(object)) args$Object <- quote(object)
  # Cross-validation for pmethod "cv" makes earth call itself by the name in $call.
  earth <- earth::earth
  if (is.factor(y)) {
    show.contrasts()
    on.exit(detach("pyearthdof:contrasts", character.only = TRUE))
  }
  # Symbols instead of values keep $call short: a call that includes the data is slow to deparse.
  with.gam(options$varmod.method, with.seed(seed, eval(as.call(c(quote(earth::earth), args)))))
}

# earth looks for the package of a gam on the search path, where it is attached for this call.
with.gam <- function(method, expr) {
  is.here <- any(c("package:gam", "package:mgcv") %in% search())
  if (is.null(method) || !grepl("gam$", method) || is.here) return(expr)
  before <- search()
  on.exit(for (name in setdiff(search(), before)) detach(name, character.only = TRUE))
  # Suppress the output of a package that fails to load; the error below replaces it.
  here <- function(package) suppressWarnings(suppressMessages(
    require(package, character.only = TRUE, quietly = TRUE, warn.conflicts = FALSE)))
  if (!here("gam") && !here("mgcv"))
    stop("varmod_method=\"", method, "\" needs the R package gam or mgcv: install.packages(\"gam\")",
         call. = FALSE)
  expr
}

# R looks for earth's contrasts of a factor response on the search path, which may not include earth.
show.contrasts <- function()
  attach(list(contr.earth.response = earth::contr.earth.response), name = "pyearthdof:contrasts",
         warn.conflicts = FALSE)

# Options as written in the call. Those without a short text are stored in `env` and referred to by name.
language.options <- function(options, env) {
  if (!is.null(options$allowed)) {
    env$allowed <- allowed.function(options$allowed)
    options$allowed <- quote(allowed)
  }
  if (!is.null(options$glm)) options$glm <- glm.language(options$glm)
  options
}

# A Python function is passed as a number; earth requires its documented argument names.
allowed.function <- function(number) {
  force(number)
  function(degree, pred, parents, namesx, first)
    python.call(number, degree, pred, parents, namesx, first)
}

# list(family = "binomial"), or list(family = stats::binomial(link = "probit")) with a link.
glm.language <- function(glm) {
  if (!is.null(glm$link)) {
    family <- call("::", quote(stats), as.name(glm$family))
    glm$family <- as.call(list(family, link = glm$link))
    glm$link <- NULL
  }
  as.call(c(quote(list), glm))
}

# Evaluate with R's default generators and a seed; guarded() restores the user's afterwards.
with.seed <- function(seed, expr) {
  if (!is.null(seed))
    set.seed(seed, kind = "default", normal.kind = "default", sample.kind = "default")
  expr
}

earth.one <- function(x, y, weights, subset, options, seed = NULL) {
  fit <- fit.earth(x, y, weights, options, seed, subset = subset)
  c(describe.earth(fit), list(object = serialize(fit, NULL)))
}

# Repeat the pruning pass without a forward pass. x, y and weights as in earth.one; for a formula, its text
# and data as in earth.formula.one.
earth.reprune <- function(object, x, y, weights, subset, options, seed = NULL) {
  object <- unserialize(object)
  if (is.character(x))
    return(earth.formula.one(x, y, weights, subset, options, seed, object))
  fit <- fit.earth(x, y, weights, options, seed, object, subset)
  c(describe.earth(fit), list(object = serialize(fit, NULL)))
}

# The parts of a fit stored in Python, without dimnames; names are separate character vectors.
describe.earth <- function(fit) {
  list(
    dirs = unname(fit$dirs), cuts = unname(fit$cuts), term.names = rownames(fit$dirs),
    feature.names = colnames(fit$dirs), selected = fit$selected.terms,
    coef = unname(as.matrix(fit$coefficients)), response.names = colnames(fit$coefficients),
    bx = unname(fit$bx), fitted = unname(as.matrix(fit$fitted.values)),
    residuals = unname(as.matrix(fit$residuals)), rss = fit$rss, rsq = fit$rsq, gcv = fit$gcv,
    grsq = fit$grsq, rss.per.response = fit$rss.per.response,
    rsq.per.response = fit$rsq.per.response, gcv.per.response = fit$gcv.per.response,
    grsq.per.response = fit$grsq.per.response, rss.per.subset = fit$rss.per.subset,
    gcv.per.subset = fit$gcv.per.subset, prune.terms = unname(fit$prune.terms),
    leverages = fit$leverages, nk = fit$nk, penalty = fit$penalty, thresh = fit$thresh,
    pmethod = fit$pmethod, termcond = fit$termcond, glm = describe.glm(fit), cv = describe.cv(fit),
    variance = describe.varmod(fit))
}

describe.glm <- function(fit) {
  if (is.null(fit$glm.list)) return(NULL)
  each <- function(what) vapply(fit$glm.list, function(g) as.double(g[[what]]), 0)
  family <- fit$glm.list[[1]]$family
  list(family = family$family, link = family$link, coef = unname(fit$glm.coefficients),
       null.deviance = each("null.deviance"), null.df = each("df.null"), deviance = each("deviance"),
       df = each("df.residual"), aic = each("aic"), iterations = each("iter"),
       converged = each("converged"), y = unname(do.call(cbind, lapply(fit$glm.list, `[[`, "y"))))
}

# The tables of R's cross-validation, each with its row and column names.
describe.cv <- function(fit) {
  if (is.null(fit$cv.list)) return(NULL)
  counts <- c("cv.nterms.selected.by.gcv", "cv.nvars.selected.by.gcv")
  found <- fit[c(grep("^cv\\..*\\.tab$", names(fit), value = TRUE), intersect(counts, names(fit)))]
  list(folds = names(fit$cv.list),
       terms = vapply(fit$cv.list, function(fold) as.double(length(fold$selected.terms)), 0),
       tables = lapply(Filter(Negate(is.null), found), describe.table))
}

describe.table <- function(tab) {
  rows <- if (is.matrix(tab)) rownames(tab) else names(tab)
  list(values = unname(as.matrix(tab)), rows = rows, columns = colnames(tab))
}

# A variance model as numbers; for a gam, only its method. Linear models have no dirs.
describe.varmod <- function(fit) {
  varmod <- fit$varmod
  if (is.null(varmod)) return(NULL)
  model <- varmod$residmod
  if (grepl("gam$", varmod$method)) return(list(method = varmod$method))
  found <- list(method = varmod$method, exponent = varmod$exponent, min.sd = varmod$min.sd,
                converged = isTRUE(varmod$converged), iterations = varmod$iters, weights = fit$weights,
                fitted = as.double(predict(model)), coef = as.double(stats::coef(model)),
                names = names(stats::coef(model)), stderr = as.double(varmod$iter.stderr),
                rsq = as.double(varmod$iter.rsq))
  if (!inherits(model, "earth")) return(found)
  # in the order of the selected terms, unlike coef()
  found$coef <- as.double(model$coefficients)
  found$names <- rownames(model$coefficients)
  kept <- model$selected.terms
  c(found, list(dirs = unname(model$dirs[kept, , drop = FALSE]),
                cuts = unname(model$cuts[kept, , drop = FALSE])))
}

# R's text for a fit stored as bytes.
earth.summary <- function(object, options = list()) {
  fit <- unserialize(object)
  utils::capture.output(print(do.call(summary, c(list(fit), options))))
}

earth.residuals <- function(object, type)
  unname(as.matrix(stats::residuals(unserialize(object), type = type, warn = FALSE)))

# Prediction intervals of a fit whose variance model is a gam. x is NULL, a data frame, or the matrix of
# the predictors, also for a formula.
earth.interval <- function(object, x, interval, level) {
  fit <- unserialize(object)
  if (is.matrix(x)) fit$terms <- fit$varmod$parent$terms <- NULL
  # A fit from another session may not find bs or ns, and should find nothing else.
  else if (is.data.frame(x) && !is.null(fit$terms))
    environment(fit$terms) <- environment(fit$varmod$parent$terms) <- formula.functions()
  if (is.matrix(x) && startsWith(fit$varmod$method, "x.")) x <- as.data.frame(x)
  with.gam(fit$varmod$method,
           unname(as.matrix(predict(fit, newdata = x, interval = interval, level = level))))
}

# R's importance of predictors (evimp) for a fit stored as bytes.
earth.importance <- function(object) {
  table <- earth::evimp(unserialize(object))
  list(names = rownames(table), values = matrix(table[, c(3, 4, 6)], ncol = 3))
}
