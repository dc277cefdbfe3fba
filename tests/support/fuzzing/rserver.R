# The R side of rserver.py: read a case from stdin, fit it with earth, answer on the file descriptor
# whose number is the argument.
# All that crosses the pipes are little-endian doubles and texts (a length, then as many bytes).
suppressMessages(library(earth))
library(splines)
requests <- file("stdin", "rb")
answers <- file(file.path("/dev/fd", commandArgs(trailingOnly = TRUE)[1]), "wb")

read.numbers <- function(count) readBin(requests, "double", count, endian = "little")
read.vector <- function() read.numbers(read.numbers(1))

read.text <- function() {
  bytes <- readBin(requests, "raw", read.numbers(1))
  text <- rawToChar(bytes)
  Encoding(text) <- "UTF-8"
  text
}

read.texts <- function() vapply(seq_len(read.numbers(1)), function(i) read.text(), "")

# Data are a matrix, a factor, or a frame of such columns.
read.data <- function() {
  kind <- read.text()
  switch(kind,
    none = NULL,
    vector = read.vector(),
    flags = read.vector() != 0,
    texts = read.texts(),
    dates = structure(read.vector(), class = "Date"),
    formula = eval(parse(text = read.text(), keep.source = FALSE)[[1]]),
    matrix = {
      size <- read.numbers(2)
      matrix(read.numbers(prod(size)), size[1], size[2])
    },
    factor = , ordered = {
      codes <- read.vector() + 1
      levels <- read.texts()
      factor(levels[codes], levels, ordered = kind == "ordered")
    },
    frame = {
      names <- read.texts()
      columns <- lapply(names, function(name) read.data())
      structure(columns, names = names, class = "data.frame", row.names = seq_along(columns[[1]]))
    })
}

# An argument is its name, its kind and its values.
read.arguments <- function() {
  arguments <- list()
  for (i in seq_len(read.numbers(1))) {
    name <- read.text()
    kind <- read.text()
    arguments[[name]] <- switch(kind,
      text = read.text(),
      flag = read.numbers(1) != 0,
      numbers = read.vector())
  }
  if (!is.null(arguments$glm)) arguments$glm <- list(family = arguments$glm)
  if (!is.null(arguments$glm.link))
    arguments$glm$family <- get(arguments$glm$family)(link = arguments$glm.link)
  arguments$glm$maxit <- arguments$glm.maxit
  arguments$glm$epsilon <- arguments$glm.epsilon
  arguments[setdiff(names(arguments), c("glm.link", "glm.maxit", "glm.epsilon"))]
}

write.numbers <- function(values) writeBin(as.double(values), answers, endian = "little")

write.text <- function(text) {
  bytes <- charToRaw(enc2utf8(text))
  write.numbers(length(bytes))
  writeBin(bytes, answers)
}

write.texts <- function(texts) {
  write.numbers(length(texts))
  for (text in texts) write.text(text)
}

write.parts <- function(parts) {
  write.numbers(length(parts))
  for (name in names(parts)) {
    write.text(name)
    write.numbers(length(parts[[name]]))
    write.numbers(parts[[name]])
  }
}

# What cross-validation and the variance model tell; names without a value are left out.
folds.of <- function(fit) {
  if (is.null(fit$cv.list)) return(list())
  found <- list(
    cv_terms = vapply(fit$cv.list, function(f) as.double(length(f$selected.terms)), 0),
    cv_rsq = fit$cv.rsq.tab, cv_maxerr = fit$cv.maxerr.tab, cv_class_rate = fit$cv.class.rate.tab,
    cv_oof_rsq = fit$cv.oof.rsq.tab, cv_infold_rsq = fit$cv.infold.rsq.tab,
    cv_oof_fit = fit$cv.oof.fit.tab, cv_auc = fit$cv.auc.tab, cv_cor = fit$cv.cor.tab,
    cv_deviance = fit$cv.deviance.tab, cv_calib_int = fit$cv.calib.int.tab,
    cv_calib_slope = fit$cv.calib.slope.tab)
  if (!is.null(fit$varmod)) found$cv_sd <- predict(fit, interval = "se", type = "earth")
  Filter(Negate(is.null), found)
}

parts.of <- function(fit, x.new) c(parts.of.model(fit, x.new), folds.of(fit))

parts.of.model <- function(fit, x.new) {
  predicted <- function(...) {
    if (!inherits(fit$call$formula, "formula")) return(predict(fit, x.new, ...))
    # what formulas refuse at new rows is a part that is missing, and so are R's predictions where it takes the
    # columns of new rows in another order than the fit's: several responses, a dot, a product and a minus
    tryCatch(suppressWarnings({
      columns <- colnames(earth:::get.earth.x(fit, x.new, parent.frame(), 0))
      of.fit <- colnames(fit$dirs)
      if (setequal(columns, of.fit) && !identical(columns, of.fit)) NULL else predict(fit, x.new, ...)
    }), error = function(e) NULL)
  }
  parts <- list(
    dirs = fit$dirs, cuts = fit$cuts, selected = fit$selected.terms, coef = fit$coefficients,
    rss = fit$rss, rsq = fit$rsq, gcv = fit$gcv, grsq = fit$grsq,
    rss_per_subset = fit$rss.per.subset, gcv_per_subset = fit$gcv.per.subset,
    prune_terms = fit$prune.terms, fitted = fit$fitted.values, leverages = fit$leverages,
    nk = fit$nk, penalty = fit$penalty, termcond = fit$termcond,
    predicted = predicted(type = "earth"),
    rss_per_response = fit$rss.per.response, rsq_per_response = fit$rsq.per.response,
    gcv_per_response = fit$gcv.per.response, grsq_per_response = fit$grsq.per.response)
  if (is.null(fit$glm.list)) return(parts)
  each <- function(what) vapply(fit$glm.list, function(g) as.double(g[[what]]), 0)
  c(parts, list(
    glm_coef = fit$glm.coefficients, deviance = each("deviance"),
    null_deviance = each("null.deviance"), aic = each("aic"), iterations = each("iter"),
    converged = each("converged"),
    response = suppressWarnings(predicted(type = "response"))))
}

# The deviance of each iteration of all the generalised linear models that `run` fits, as R's own trace prints
# them; a halved step prints another one for the same iteration, the last one counts.
traced.deviances <- function(run) {
  old <- options(digits = 17)
  on.exit(options(old))
  lines <- grep("^(Deviance|Step halved: new deviance) = ", capture.output(run()), value = TRUE)
  values <- as.double(sub("^.*deviance = ([^ ]+).*$", "\\1", lines, ignore.case = TRUE))
  values[c(!startsWith(lines[-1], "Step"), TRUE)[seq_along(lines)]]
}

repeat {
  x <- read.data()
  if (is.null(x)) break
  y <- read.data()
  weights <- read.data()
  rows <- read.data()
  # predict() of a cross-validated fit looks for the frame by its name, and earth has an x of its own
  predictors <- x
  arguments <- if (inherits(y, "formula")) list(formula = y, data = quote(predictors)) else list(x = if (is.data.frame(x)) quote(predictors) else quote(x), y = quote(y))
  if (!is.null(weights)) arguments$weights <- quote(weights)
  if (!is.null(rows)) arguments$subset <- quote(rows + 1)
  arguments <- c(arguments, read.arguments())
  seed <- arguments$seed
  arguments$seed <- NULL
  # Each time with the same folds.
  fit.earth <- function() {
    if (!is.null(seed)) set.seed(seed)
    do.call("earth", arguments)
  }
  changes <- read.arguments()
  x.new <- read.data()
  warned <- character(0)
  prune.again <- function(fit) do.call("update", c(list(fit, ponly = TRUE), changes))
  answer <- tryCatch(
    withCallingHandlers({
      fit <- fit.earth()
      parts <- parts.of(fit, x.new)
      if (length(changes)) {
        more <- parts.of(prune.again(fit), x.new)
        parts <- c(parts, structure(more, names = paste("again", names(more))))
      }
      if (!all(c(parts$converged, parts$"again converged") == 1)) {
        arguments$glm$trace <- TRUE
        parts$deviances <- suppressWarnings(traced.deviances(function() {
          fit <- fit.earth()
          if (length(changes)) prune.again(fit)
          NULL
        }))
      }
      list(names = rownames(fit$dirs), columns = colnames(fit$dirs), responses = colnames(fit$coefficients),
           parts = Filter(Negate(is.null), parts))
    }, warning = function(w) {
      warned <<- c(warned, conditionMessage(w))
      invokeRestart("muffleWarning")
    }),
    error = function(e) conditionMessage(e))
  if (is.character(answer)) {
    write.text("refused")
    write.text(answer)
  } else {
    write.text("fitted")
    write.texts(answer$names)
    write.texts(warned)
    write.texts(answer$columns)
    write.texts(answer$responses)
    write.parts(answer$parts)
  }
  flush(answers)
}
