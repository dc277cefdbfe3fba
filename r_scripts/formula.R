# Formulas from users. Python (formula/guard.py) decides what a formula may contain: it has parsed, checked
# and rewritten the formulas received here. They are evaluated in an environment with only these
# functions.

formula.arithmetic <- c("+", "-", "*", "/", "^", "(")
formula.elementwise <- c("I", "log", "log2", "log10", "log1p", "exp", "sqrt", "abs", "sin", "cos", "tan", "pmin",
                         "pmax", "as.numeric", "as.integer", "round", "floor", "ceiling", "trunc", "sign", "%%",
                         "%/%", "findInterval")
formula.logical <- c("!", "&", "|", "==", "!=", "<", "<=", ">", ">=", "is.na")
# Summaries of whole columns.
formula.summaries <- c("mean", "median", "min", "max", "sum", "var", "sd", "quantile")
# Functions with arguments other than columns; functions of stats; and values.
formula.others <- c("~", "list", "c", "cbind", "ifelse", "factor", "as.factor", "ordered", "as.ordered",
                    "as.character", "droplevels", "[", "interaction", "cut", "scale", "%in%", ":", "seq", "seq_len", "rep", "rev", "range")
formula.stats <- c("poly", "offset", "relevel", "median", "sd", "var", "quantile")
formula.values <- list(pi = pi, T = TRUE, F = FALSE, letters = letters, LETTERS = LETTERS,
                       month.abb = month.abb, month.name = month.name)

# Every call in a formula is looked up here. model.frame wraps the variables in `list`. Only the `wanted`
# functions are included, if given: they are stored with a fit, and bs alone has 26 kB.
formula.functions <- function(wanted = NULL) {
  known <- new.env(parent = emptyenv())
  in.base <- c(formula.others, formula.arithmetic, formula.elementwise, formula.logical, formula.summaries)
  for (name in setdiff(in.base, formula.stats))
    assign(name, get(name, envir = baseenv(), mode = "function"), envir = known)
  for (name in names(formula.values)) assign(name, formula.values[[name]], envir = known)
  for (name in formula.stats) assign(name, get(name, envir = asNamespace("stats")), envir = known)
  # range() looks up its method in the calling environment.
  known$range <- function(..., na.rm = FALSE) range(..., na.rm = na.rm)
  environment(known$range) <- baseenv()
  known$`::` <- function(package, name) get(as.character(substitute(name)), envir = known, inherits = FALSE)
  environment(known$`::`) <- list2env(list(known = known), parent = baseenv())
  known$bs <- splines::bs
  known$ns <- splines::ns
  if (!is.null(wanted)) rm(list = setdiff(ls(known, all.names = TRUE), c("list", wanted)), envir = known)
  known
}

# Parse a formula into its own environment. `columns` are the names of the data.
known.formula <- function(text, columns) {
  check.locale(c(text, columns))
  formula <- parse(text = text, keep.source = FALSE, encoding = "UTF-8")[[1]]
  attributes(formula) <- list(class = "formula", .Environment = formula.functions(all.names(formula)))
  formula
}

refuse.formula <- function(...) {
  sentence <- paste0("formula is refused: ", ...)
  stop(structure(class = c("refused", "error", "condition"), list(message = sentence, call = NULL)))
}

# R stores names as symbols in the locale's encoding.
check.locale <- function(texts) {
  is.foreign <- function(text) any(charToRaw(text) > as.raw(127))
  if (!l10n_info()[["UTF-8"]] && any(vapply(texts, is.foreign, NA)))
    refuse.formula("it or a column name has characters other than ASCII, which R cannot represent in the ",
                   "locale ", Sys.getlocale("LC_CTYPE"), "; start Python with LC_ALL=C.UTF-8")
}

# Permitted arguments of functions that take more than variables, independent of R's version: newer
# versions gave bs another argument.
formula.signatures <- list(
  poly = stats::poly, log = function(x, base) NULL, round = function(x, digits) NULL,
  bs = function(x, df, knots, degree, intercept, Boundary.knots) NULL,
  ns = function(x, df, knots, intercept, Boundary.knots) NULL,
  ifelse = function(test, yes, no) NULL, mean = function(x, na.rm) NULL, median = function(x, na.rm) NULL,
  sd = function(x, na.rm) NULL, var = function(x, na.rm) NULL, min = function(..., na.rm) NULL,
  max = function(..., na.rm) NULL, sum = function(..., na.rm) NULL,
  quantile = function(x, probs, na.rm, names) NULL)

# As a list with every variable called x.
matched.arguments <- function(call, name) {
  definition <- formula.signatures[[name]]
  matched <- tryCatch(match.call(definition, call, expand.dots = FALSE), error = function(e)
    refuse.formula(short.text(call), ": ", conditionMessage(e)))
  args <- as.list(matched)[-1]
  if (name == "poly") args <- poly.arguments(call, args)
  args
}

# poly(x, 2) and poly(x, z, degree = 2): further arguments are the degree or more variables.
poly.arguments <- function(call, args) {
  odd <- setdiff(names(args), c("x", "...", "degree", "raw", "coefs"))
  if (length(odd)) refuse.formula(short.text(call), ": poly takes variables, degree and raw")
  dots <- args$...
  args$... <- NULL
  if (length(dots) == 1 && is.numeric(dots[[1]])) {
    args$degree <- dots[[1]]
    return(args)
  }
  for (variable in dots)
    if (!length(all.vars(variable))) refuse.formula(short.text(call), " has an odd degree or variable")
  c(args["x"], structure(as.list(dots), names = rep("x", length(dots))), args[names(args) != "x"])
}

short.text <- function(value) {
  text <- paste(deparse(value, width.cutoff = 60, nlines = 2), collapse = " ")
  if (nchar(text) > 60) paste0(substr(text, 1, 57), "...") else text
}

# earth with a formula. `sent` is the data, see formula.data, `weights` a vector or NULL, `subset` 1-based row
# numbers or NULL, `options` and `seed` as in earth.one, `object` an earlier fit to reprune.
earth.formula.one <- function(text, sent, weights, subset, options, seed = NULL, object = NULL) {
  data <- formula.data(sent)
  formula <- known.formula(text, names(data))
  # Levels of strings are sorted by character codes in every locale.
  collation <- Sys.getlocale("LC_COLLATE")
  on.exit(Sys.setlocale("LC_COLLATE", collation))
  Sys.setlocale("LC_COLLATE", "C")
  args <- c(list(formula = formula, data = quote(data)), language.options(options, environment()))
  if (!is.null(weights)) {
    # model.frame looks for weights in the data first, so their name must be unused.
    name <- utils::tail(make.unique(c(names(data), "case weights")), 1)
    assign(name, weights, envir = environment(formula))
    args$weights <- as.name(name)
  }
  if (!is.null(subset)) args$subset <- quote(subset)
  if (!is.null(object)) args$Object <- quote(object)
  # Cross-validation for pmethod "cv" makes earth call itself by the name in $call.
  earth <- earth::earth
  if (!all(vapply(data[all.vars(formula[[2]])], is.numeric, NA)) || length(formula[[2]]) > 1) {
    show.contrasts()
    on.exit(detach("pyearthdof:contrasts", character.only = TRUE), add = TRUE)
  }
  advice <- if (is.sum(formula[[2]])) sum.advice(formula[[2]])
  fit <- tryCatch(
    with.gam(options$varmod.method, with.seed(seed, eval(as.call(c(quote(earth::earth), args))))),
    error = function(e)
      stop("R could not fit the formula: ", substr(conditionMessage(e), 1, 300), advice, call. = FALSE))
  c(describe.earth(fit), list(object = serialize(fit, NULL)))
}

# A list of a data frame, the units of its dates, and the columns of its matrices with their names.
formula.data <- function(sent) {
  data <- sent$columns
  for (name in names(sent$dates)) data[[name]] <- as.date(data[[name]], sent$dates[[name]])
  # A matrix takes the position of its first column, which matters for a dot.
  for (name in names(sent$matrices)) {
    parts <- sent$matrices[[name]]$parts
    values <- as.matrix(data[parts])
    dimnames(values) <- list(NULL, sent$matrices[[name]]$names)
    data[[parts[1]]] <- values
    names(data)[names(data) == parts[1]] <- name
    data[parts[-1]] <- NULL
  }
  data
}

as.date <- function(values, unit) {
  if (unit == "days") return(structure(values, class = "Date"))
  structure(values, class = c("POSIXct", "POSIXt"), tzone = "UTC")
}

is.sum <- function(expression) is.call(expression) && identical(expression[[1]], quote(`+`))

# earth passes a + b ~ . to the package Formula, which can fail although cbind(a, b) ~ . works.
sum.advice <- function(left)
  paste0("; for several responses write cbind(", paste(all.vars(left), collapse = ", "), ") ~ ...")

# Describe how the formula of a fit turns a data frame into predictors: its variables with R's values
# (predvars), and its terms as products of variables. For an unsupported formula, a list with the reason
# and a flag for an offset.
describe.formula <- function(fit) {
  if (is.null(fit$terms)) return(list(reason = "the model was fitted without a formula", offset = FALSE))
  tryCatch(describe.terms(fit), error = function(e)
    list(reason = conditionMessage(e), offset = length(attr(fit$terms, "offset")) > 0))
}

describe.terms <- function(fit) {
  terms <- fit$terms
  responses <- if (is.null(attr(terms, "Response"))) attr(terms, "response") else attr(terms, "Response")
  factors <- attr(terms, "factors")
  # With a + b ~ x the responses are also terms.
  terms.kept <- if (length(responses) > 1) seq_len(ncol(factors))[-responses] else seq_len(ncol(factors))
  factors <- full.dummies(factors[, terms.kept, drop = FALSE], terms)
  offset <- attr(terms, "offset")
  used <- sort(unique(c(which(rowSums(factors) > 0), offset)))
  variables <- lapply(used, describe.variable, fit = fit)
  check.column.names(fit, factors, used)
  list(text = formula.text(terms), variables = variables,
       terms = unname(factors[used, , drop = FALSE]),
       offset = if (length(offset)) match(offset, used))
}

formula.text <- function(terms) {
  attributes(terms) <- NULL
  paste(deparse(terms, width.cutoff = 500), collapse = " ")
}

# Without an intercept, model.matrix gives the first factor a column for each level.
full.dummies <- function(factors, terms) {
  is.factor <- attr(terms, "dataClasses")[seq_len(nrow(factors))] %in%
    c("factor", "ordered", "logical", "character")
  first <- which(factors > 0 & is.factor)[1]
  if (attr(terms, "intercept") == 0 && !is.na(first)) factors[first] <- 2L
  factors
}

describe.variable <- function(index, fit) {
  terms <- fit$terms
  variable <- without.packages(attr(terms, "variables")[[index + 1]])
  unknown <- setdiff(all.names(variable), c(all.vars(variable), ls(formula.functions(), all.names = TRUE)))
  if (length(unknown)) refuse.formula("it calls ", unknown[1], ", which is not supported")
  label <- names(attr(terms, "dataClasses"))[index]
  kind <- attr(terms, "dataClasses")[[index]]
  if (!grepl("^(numeric|nmatrix\\.[0-9]+|logical|factor|ordered|character)$", kind))
    refuse.formula(label, " is neither a number nor a factor")
  if (kind == "character") kind <- "factor"
  if (kind %in% c("factor", "ordered") && !is.name(variable))
    refuse.formula(label, " is a factor inside a function")
  if (grepl("nmatrix", kind) && is.name(variable)) refuse.formula(label, " is a matrix")
  list(label = label, kind = sub("nmatrix.*|numeric", "number", kind),
       levels = as.character(fit$xlevels[[label]]),
       expression = describe.expression(without.packages(attr(terms, "predvars")[[index + 1]])))
}

# splines::bs(x) as bs(x).
without.packages <- function(piece) {
  if (!is.call(piece)) return(piece)
  called <- piece[[1]]
  if (is.call(called) && identical(called[[1]], quote(`::`))) piece[[1]] <- called[[3]]
  piece[] <- lapply(piece, without.packages)
  piece
}

describe.expression <- function(piece) {
  if (is.name(piece) && as.character(piece) %in% names(formula.values)) {
    value <- formula.values[[as.character(piece)]]
    if (is.character(value)) refuse.formula("it contains ", as.character(piece))
    return(list(number = as.double(value)))
  }
  if (is.name(piece)) return(list(column = as.character(piece)))
  if (!is.call(piece)) {
    if (!is.numeric(piece) && !is.logical(piece)) refuse.formula("it contains ", short.text(piece))
    return(list(number = as.double(piece)))
  }
  if (!is.name(piece[[1]])) refuse.formula("it calls ", short.text(piece[[1]]))
  name <- as.character(piece[[1]])
  switch(name,
    "(" = , I = , offset = describe.expression(piece[[2]]),
    poly = describe.poly(piece), bs = , ns = describe.spline(piece, name),
    log = describe.function(name, matched.arguments(piece, name)[c("x", "base")]),
    round = describe.function(name, matched.arguments(piece, name)[c("x", "digits")]),
    ifelse = describe.function(name, matched.arguments(piece, name)[c("test", "yes", "no")]),
    mean = , median = , min = , max = , sum = , var = , sd = , quantile = describe.summary(piece, name),
    factor = , as.factor = , ordered = , as.ordered = , relevel = , interaction = , cut = , scale = refuse.formula("a fit does not record the values of ", name),
    describe.function(name, as.list(piece)[-1]))
}

describe.function <- function(name, args)
  list(call = name, args = unname(lapply(args[!vapply(args, is.null, NA)], describe.expression)))

describe.summary <- function(piece, name) {
  args <- matched.arguments(piece, name)
  flag <- if (is.null(args$na.rm)) FALSE else describe.expression(args$na.rm)$number != 0
  shares <- if (name == "quantile") describe.expression(args$probs)$number
  if (name == "quantile" && is.null(shares)) refuse.formula(short.text(piece), " is not one number")
  list(call = name, args = unname(lapply(c(args$x, args$...), describe.expression)), dropped = isTRUE(flag),
       shares = as.double(shares))
}

describe.poly <- function(piece) {
  args <- matched.arguments(piece, "poly")
  variables <- unname(lapply(args[names(args) == "x"], describe.expression))
  degree <- if (is.null(args$degree)) 1 else floor(args$degree)
  coefs <- args$coefs
  if (is.null(coefs)) return(list(call = "poly", args = variables, degree = degree))
  if (!is.null(coefs$alpha)) coefs <- list(coefs)
  if (length(coefs) != length(variables)) refuse.formula("the degree of poly is not a number")
  each <- function(what) unname(do.call(rbind, lapply(coefs, `[[`, what)))
  list(call = "poly", args = variables, degree = degree, alpha = each("alpha"), norm2 = each("norm2"))
}

describe.spline <- function(piece, name) {
  args <- matched.arguments(piece, name)
  list(call = name, args = list(describe.expression(args$x)), knots = sort(as.double(args$knots)),
       boundary = sort(as.double(args$Boundary.knots)),
       degree = if (is.null(args$degree)) 3 else as.double(args$degree),
       intercept = isTRUE(as.logical(args$intercept)))
}

# The formula's columns with R's default contrasts (set by guard.R) should be the model's. They differ if
# its factors were coded in another way, which a fit does not record.
check.column.names <- function(fit, factors, used) {
  terms <- terms.of.predictors(fit$terms, factors, used)
  frame <- stats::model.frame(terms, example.frame(fit, used))
  names <- setdiff(colnames(stats::model.matrix(terms, frame)), "(Intercept)")
  if (!identical(names, colnames(fit$dirs)))
    refuse.formula("the model's columns are not those of R's default contrasts")
}

terms.of.predictors <- function(terms, factors, used) {
  parts <- attributes(terms)
  attributes(terms) <- list(
    variables = parts$variables[c(1, used + 1)], predvars = parts$predvars[c(1, used + 1)],
    factors = factors[used, , drop = FALSE], term.labels = colnames(factors),
    order = colSums(factors > 0), intercept = parts$intercept, response = 0,
    class = c("terms", "formula"), .Environment = example.functions())
  terms
}

# Functions that return two numbers for any arguments: column names do not depend on values. Splines are
# evaluated between their boundary knots: outside, R extrapolates by all of their derivatives.
example.functions <- function() {
  known <- formula.functions()
  for (name in setdiff(c(formula.arithmetic, formula.elementwise, "ifelse"), c("I", "(")))
    known[[name]] <- function(...) c(1, 2)
  for (name in formula.logical) known[[name]] <- function(...) c(FALSE, TRUE)
  inside <- function(spline) function(x, ..., Boundary.knots)
    spline(rep(mean(Boundary.knots), 2), ..., Boundary.knots = Boundary.knots)
  known$bs <- inside(splines::bs)
  known$ns <- inside(splines::ns)
  known
}

# Two rows of data accepted by the formula of a fit.
example.frame <- function(fit, used) {
  frame <- list()
  for (index in used) {
    columns <- all.vars(attr(fit$terms, "variables")[[index + 1]])
    kind <- attr(fit$terms, "dataClasses")[[index]]
    levels <- fit$xlevels[[names(attr(fit$terms, "dataClasses"))[index]]]
    values <- if (!is.null(levels)) factor(levels[1:2], levels, ordered = kind == "ordered")
              else if (kind == "logical") c(FALSE, TRUE)
              else c(1, 2)
    # A column may appear both alone and in a function; the plain one determines its kind.
    new <- if (is.double(values)) setdiff(columns, names(frame)) else columns
    frame[new] <- rep(list(values), length(new))
  }
  frame
}
