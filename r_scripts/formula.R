# Formulas from users. A formula is text that R could run, so it is parsed, never evaluated, and refused
# unless all of it is known; then its variables are evaluated where nothing but these functions exists.

# columns and numbers count what terms other than plain columns make; the data have their own size.
formula.limits <- list(characters = 50000, terms = 2000, depth = 100, power = 100, degree = 50,
                       df = 1000, functions = 300, columns = 2000, numbers = 2.5e7)

# What may be called, by place. "right" is the level of terms on the right-hand side, "left" the outermost
# call on the left one, "value" the inside of a function or bracket of arithmetic, "constant" an argument
# such as knots, which holds numbers only.
formula.arithmetic <- c("+", "-", "*", "/", "^", "(")
formula.elementwise <- c("I", "log", "log2", "log10", "log1p", "exp", "sqrt", "abs")
formula.calls <- list(
  right = c(formula.arithmetic, ":", "%in%", formula.elementwise, "poly", "bs", "ns", "cbind", "offset"),
  left = c(formula.arithmetic, formula.elementwise, "cbind"),
  value = c(formula.arithmetic, formula.elementwise),
  constant = c(formula.arithmetic, "c"))

# Every call of a formula is a symbol that is looked up here. `list` is what model.frame makes of the
# variables. Only the `wanted` functions, if told: they are stored with a fit, and bs alone has 26 kB.
formula.functions <- function(wanted = NULL) {
  known <- new.env(parent = emptyenv())
  for (name in c("~", "list", "c", "cbind", formula.arithmetic, formula.elementwise))
    assign(name, get(name, envir = baseenv(), mode = "function"), envir = known)
  known$poly <- stats::poly
  known$offset <- stats::offset
  known$bs <- splines::bs
  known$ns <- splines::ns
  if (!is.null(wanted)) rm(list = setdiff(ls(known, all.names = TRUE), c("list", wanted)), envir = known)
  known
}

# The formula of a text, in an environment of its own. `columns` are the names of the data, `factors` those
# of them that are no numbers.
checked.formula <- function(text, columns, factors = character(0)) {
  check.text(text)
  check.locale(c(text, columns))
  formula <- parsed.formula(text)
  check.expression(formula[[2]], "left", columns, factors)
  check.expression(formula[[3]], "right", columns, factors)
  attributes(formula) <- list(class = "formula", .Environment = formula.functions(all.names(formula)))
  formula
}

refuse.formula <- function(...) {
  sentence <- paste0("formula is refused: ", ...)
  stop(structure(class = c("refused", "error", "condition"), list(message = sentence, call = NULL)))
}

check.text <- function(text) {
  if (!is.character(text) || length(text) != 1 || is.na(text))
    refuse.formula("it should be one text such as \"y ~ .\"")
  if (nchar(text, "bytes") > formula.limits$characters)
    refuse.formula("it is longer than ", formula.limits$characters, " characters")
}

parsed.formula <- function(text) {
  parsed <- tryCatch(parse(text = text, keep.source = FALSE, encoding = "UTF-8"), error = function(e)
    refuse.formula("R cannot read it (", sub("\n.*", "", conditionMessage(e)), ")"))
  if (length(parsed) != 1)
    refuse.formula("it holds ", length(parsed), " expressions where one should be")
  formula <- parsed[[1]]
  if (!is.call(formula) || !identical(formula[[1]], quote(`~`)) || length(formula) != 3)
    refuse.formula("it should have a response, a ~ and predictors, such as \"y ~ .\", not ",
                   short.text(formula))
  formula
}

# Names are symbols to R, which are in the locale's encoding.
check.locale <- function(texts) {
  is.foreign <- function(text) any(charToRaw(text) > as.raw(127))
  if (!l10n_info()[["UTF-8"]] && any(vapply(texts, is.foreign, NA)))
    refuse.formula("it or a column name has other characters than ASCII, which R cannot hold in the ",
                   "locale ", Sys.getlocale("LC_CTYPE"), "; start Python with LC_ALL=C.UTF-8")
}

# Look at every piece of an expression. With a stack of our own and not by recursion: deep expressions can
# overflow R's stack, which ends the process.
check.expression <- function(expression, place, columns, factors) {
  pieces <- list(list(expression, place, 1))
  while (n <- length(pieces)) {
    piece <- pieces[[n]]
    pieces[[n]] <- NULL
    inside <- check.piece(piece[[1]], piece[[2]], columns, factors)
    for (k in seq_along(inside)) {
      below <- inside[[k]]
      same <- identical(below[[2]], piece[[2]])
      depth <- if (same) piece[[3]] + 1 else 1
      if (depth > if (below[[2]] == "right") formula.limits$terms else formula.limits$depth)
        refuse.formula("it is nested too deeply or has too many terms")
      pieces[[n + k - 1]] <- list(below[[1]], below[[2]], depth)
    }
  }
}

# Check one piece; return those inside it, each with its place.
check.piece <- function(piece, place, columns, factors) {
  if (is.name(piece)) {
    check.name(as.character(piece), place, columns, factors)
  } else if (is.call(piece)) {
    return(check.call(piece, place))
  } else if (!(is.numeric(piece) || is.logical(piece)) || length(piece) != 1 || is.object(piece)) {
    refuse.formula("it holds ", short.text(piece), " where a number, a column or a function should be")
  } else if (place == "right" && !isTRUE(piece %in% 0:1)) {
    refuse.formula("it has the term ", short.text(piece), " but a number as a term should be 0 or 1")
  }
  list()
}

check.name <- function(name, place, columns, factors) {
  if (name == "") refuse.formula("an argument of a function is empty")
  if (place == "constant") refuse.formula("it uses ", name, " where a number should be")
  if (name == ".") {
    if (place != "right") refuse.formula("a dot may only be a term on the right-hand side")
  } else if (!is.null(columns) && !name %in% columns) {
    refuse.formula("the data has no column ", sQuote(name, FALSE))
  } else if (place == "value" && name %in% factors) {
    refuse.formula("the column ", sQuote(name, FALSE), " is a factor, which may only be a term of its ",
                   "own and not inside a function")
  }
}

check.call <- function(call, place) {
  if (!is.name(call[[1]]))
    refuse.formula("it calls ", short.text(call[[1]]), ", which is no function that it knows by name")
  name <- as.character(call[[1]])
  if (!name %in% formula.calls[[place]]) refuse.call(name, place)
  n <- length(call) - 1
  if (!n %in% formula.arity(name))
    refuse.formula(name, " has ", n, " argument(s) in ", short.text(call))
  switch(name,
    poly = , bs = , ns = , log = named.arguments(call, name),
    offset = , cbind = , I = , log2 = , log10 = , log1p = , exp = , sqrt = , abs =
      check.arguments(call, "value"),
    "^" = if (place == "right") check.power(call) else check.arguments(call, place),
    check.arguments(call, if (place == "left" && name != "+") "value" else place))
}

refuse.call <- function(name, place) {
  if (!name %in% unlist(formula.calls))
    refuse.formula("it calls ", name, ", which is not one of ",
                   paste(setdiff(formula.calls$right, "("), collapse = " "))
  where <- switch(place, left = "as the response", value = "inside another function",
                  constant = "where a number should be", right = "as a term")
  refuse.formula(name, " may not stand ", where)
}

formula.arity <- function(name)
  switch(name, "+" = , "-" = 1:2, "*" = , "/" = , "^" = , ":" = , "%in%" = 2, log = 1:2,
         poly = , bs = , ns = , cbind = , c = 1:1000, 1)

check.arguments <- function(call, place) {
  if ("deparse.level" %in% names(call)) refuse.formula("cbind takes columns only")
  lapply(as.list(call)[-1], list, place)
}

# (a + b + c)^2: R repeats a product as often as the exponent says.
check.power <- function(call) {
  check.whole(call[[3]], "an exponent of terms", formula.limits$power, 2)
  list(list(call[[2]], "right"))
}

check.whole <- function(value, what, largest, smallest = 1) {
  fine <- is.numeric(value) && length(value) == 1 &&
    isTRUE(value >= smallest && value <= largest && value == floor(value))
  if (!fine)
    refuse.formula(what, " is ", short.text(value), " but it should be a whole number from ", smallest,
                   " to ", largest)
}

# The arguments of poly, bs, ns and log by R's rules of matching; all but x are constants.
named.arguments <- function(call, name) {
  args <- matched.arguments(call, name)
  if ("coefs" %in% names(args)) refuse.formula(short.text(call), ": poly takes variables, degree and raw")
  for (size in intersect(c("degree", "df"), names(args)))
    check.whole(args[[size]], paste(size, "of", name), formula.limits[[size]])
  for (flag in intersect(c("intercept", "raw"), names(args)))
    if (!(is.logical(args[[flag]]) || is.numeric(args[[flag]])) || is.na(args[[flag]]))
      refuse.formula(flag, " of ", name, " is ", short.text(args[[flag]]),
                     " but it should be TRUE or FALSE")
  if ("Boundary.knots" %in% names(args) && count.numbers(args$Boundary.knots) != 2)
    refuse.formula("Boundary.knots of ", name, " is ", short.text(args$Boundary.knots),
                   " but it should be two numbers, such as c(0, 1)")
  variables <- names(args) == "x"
  # R looks at all combinations of exponents.
  degree <- if (is.null(args$degree)) 1 else args$degree
  if (name == "poly" && sum(variables) > 1 && (degree + 1)^sum(variables) > 1e5)
    refuse.formula(short.text(call), " has too many columns")
  c(lapply(args[variables], list, "value"), lapply(args[!variables], list, "constant"))
}

# How many numbers a constant holds: those of c(), and of the longest part of arithmetic.
count.numbers <- function(constant) {
  if (!is.call(constant)) return(length(constant))
  counts <- vapply(as.list(constant)[-1], count.numbers, 0)
  if (identical(constant[[1]], quote(c))) sum(counts) else max(counts)
}

# What may be given to the functions that take more than variables, the same whatever R's own version
# knows beside it: newer ones gave bs another argument.
formula.signatures <- list(
  poly = stats::poly, log = function(x, base) NULL,
  bs = function(x, df, knots, degree, intercept, Boundary.knots) NULL,
  ns = function(x, df, knots, intercept, Boundary.knots) NULL)

# As a list in which every variable is called x.
matched.arguments <- function(call, name) {
  definition <- formula.signatures[[name]]
  matched <- tryCatch(match.call(definition, call, expand.dots = FALSE), error = function(e)
    refuse.formula(short.text(call), ": ", conditionMessage(e)))
  args <- as.list(matched)[-1]
  if (!"x" %in% names(args)) refuse.formula(short.text(call), " has no variable")
  if (name == "poly") args <- poly.arguments(call, args)
  args
}

# poly(x, 2) and poly(x, z, degree = 2): what follows x is the degree or more variables.
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

# earth with a formula. `data` is a data frame, `weights` a vector or NULL, `subset` 1-based row numbers or
# NULL, `options` and `seed` as in earth.one, `object` an earlier fit to prune again.
earth.formula.one <- function(text, data, weights, subset, options, seed = NULL, object = NULL) {
  factors <- names(data)[!vapply(data, function(v) is.numeric(v) || is.logical(v), NA)]
  formula <- checked.formula(text, names(data), factors)
  check.size(formula, data)
  args <- c(list(formula = formula, data = quote(data)), language.options(options, environment()))
  if (!is.null(weights)) {
    # model.frame looks for weights in the data first, so their name must be nobody's.
    name <- utils::tail(make.unique(c(names(data), "case weights")), 1)
    assign(name, weights, envir = environment(formula))
    args$weights <- as.name(name)
  }
  if (!is.null(subset)) args$subset <- quote(subset)
  if (!is.null(object)) args$Object <- quote(object)
  # Cross-validation for pmethod "cv" makes earth call itself by the name in $call.
  earth <- earth::earth
  if (any(all.vars(formula[[2]]) %in% factors)) {
    show.contrasts()
    on.exit(detach("pyearthdof:contrasts", character.only = TRUE))
  }
  advice <- if (is.sum(formula[[2]])) sum.advice(formula[[2]])
  fit <- tryCatch(with.seed(seed, eval(as.call(c(quote(earth::earth), args)))), error = function(e)
    stop("R could not fit the formula: ", substr(conditionMessage(e), 1, 300), advice, call. = FALSE))
  found <- describe.formula(fit, text)
  if (!is.null(found$reason)) stop(found$reason, advice, call. = FALSE)
  c(describe.earth(fit), list(object = serialize(fit, NULL), formula = found))
}

is.sum <- function(expression) is.call(expression) && identical(expression[[1]], quote(`+`))

# earth hands a + b ~ . to the package Formula, which fails where cbind(a, b) ~ . works.
sum.advice <- function(left)
  paste0("; for several responses write cbind(", paste(all.vars(left), collapse = ", "), ") ~ ...")

# How the formula of a fit makes predictors of a data frame: its variables with the numbers that R found
# for them (predvars), and its terms as products of variables. list(reason = ) where it uses more than is
# known here, and whether there is an offset.
describe.formula <- function(fit, text = NULL) {
  if (is.null(fit$terms)) return(list(reason = "the model was fitted without a formula", offset = FALSE))
  tryCatch(describe.terms(fit, text), error = function(e)
    list(reason = conditionMessage(e), offset = length(attr(fit$terms, "offset")) > 0))
}

describe.terms <- function(fit, text) {
  terms <- fit$terms
  responses <- if (is.null(attr(terms, "Response"))) attr(terms, "response") else attr(terms, "Response")
  factors <- attr(terms, "factors")
  # With a + b ~ x the responses are terms, too.
  terms.kept <- if (length(responses) > 1) seq_len(ncol(factors))[-responses] else seq_len(ncol(factors))
  factors <- full.dummies(factors[, terms.kept, drop = FALSE], terms)
  offset <- attr(terms, "offset")
  used <- sort(unique(c(which(rowSums(factors) > 0), offset)))
  variables <- lapply(used, describe.variable, fit = fit)
  check.column.names(fit, factors, used)
  list(text = if (is.null(text)) formula.text(terms) else text, variables = variables,
       terms = unname(factors[used, , drop = FALSE]),
       offset = if (length(offset)) match(offset, used))
}

formula.text <- function(terms) {
  attributes(terms) <- NULL
  paste(deparse(terms, width.cutoff = 500), collapse = " ")
}

# Without an intercept model.matrix gives the first factor that it meets a column for each level.
full.dummies <- function(factors, terms) {
  is.factor <- attr(terms, "dataClasses")[seq_len(nrow(factors))] %in%
    c("factor", "ordered", "logical", "character")
  first <- which(factors > 0 & is.factor)[1]
  if (attr(terms, "intercept") == 0 && !is.na(first)) factors[first] <- 2L
  factors
}

describe.variable <- function(index, fit) {
  terms <- fit$terms
  variable <- attr(terms, "variables")[[index + 1]]
  check.expression(variable, "right", NULL, character(0))
  label <- names(attr(terms, "dataClasses"))[index]
  kind <- attr(terms, "dataClasses")[[index]]
  if (!grepl("^(numeric|nmatrix\\.[0-9]+|logical|factor|ordered|character)$", kind))
    refuse.formula(label, " is no number and no factor")
  if (kind == "character") kind <- "factor"
  if (kind %in% c("factor", "ordered") && !is.name(variable))
    refuse.formula(label, " is a factor inside a function")
  if (grepl("nmatrix", kind) && is.name(variable)) refuse.formula(label, " is a matrix")
  list(label = label, kind = sub("nmatrix.*|numeric", "number", kind),
       levels = as.character(fit$xlevels[[label]]),
       expression = describe.expression(attr(terms, "predvars")[[index + 1]]))
}

describe.expression <- function(piece) {
  if (is.name(piece)) return(list(column = as.character(piece)))
  if (!is.call(piece)) return(list(number = as.double(piece)))
  name <- as.character(piece[[1]])
  switch(name,
    "(" = , I = , offset = describe.expression(piece[[2]]),
    poly = describe.poly(piece), bs = , ns = describe.spline(piece, name),
    log = describe.function(name, matched.arguments(piece, name)[c("x", "base")]),
    describe.function(name, as.list(piece)[-1]))
}

describe.function <- function(name, args)
  list(call = name, args = unname(lapply(args[!vapply(args, is.null, NA)], describe.expression)))

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

# The columns that a formula makes with R's usual contrasts (guard.R sets them) should be the model's. They
# are not when its factors were coded in another way, which a fit does not tell.
check.column.names <- function(fit, factors, used) {
  terms <- terms.of.predictors(fit$terms, factors, used)
  frame <- stats::model.frame(terms, example.frame(fit, used))
  names <- setdiff(colnames(stats::model.matrix(terms, frame)), "(Intercept)")
  if (!identical(names, colnames(fit$dirs)))
    refuse.formula("the model's columns are not those that R's usual contrasts give")
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

# Functions that give two numbers whatever their arguments are: names of columns do not depend on values.
# Splines are evaluated between their boundary knots: outside, R goes on by all of their derivatives.
example.functions <- function() {
  known <- formula.functions()
  for (name in setdiff(c(formula.arithmetic, formula.elementwise), c("I", "(")))
    known[[name]] <- function(...) c(1, 2)
  inside <- function(spline) function(x, ..., Boundary.knots)
    spline(rep(mean(Boundary.knots), 2), ..., Boundary.knots = Boundary.knots)
  known$bs <- inside(splines::bs)
  known$ns <- inside(splines::ns)
  known
}

# Two rows of data that the formula of a fit takes.
example.frame <- function(fit, used) {
  frame <- list()
  for (index in used) {
    columns <- all.vars(attr(fit$terms, "variables")[[index + 1]])
    kind <- attr(fit$terms, "dataClasses")[[index]]
    levels <- fit$xlevels[[names(attr(fit$terms, "dataClasses"))[index]]]
    values <- if (!is.null(levels)) factor(levels[1:2], levels, ordered = kind == "ordered")
              else if (kind == "logical") c(FALSE, TRUE)
              else c(1, 2)
    # A column may stand by itself and in a function, too: its kind is told by itself.
    new <- if (is.double(values)) setdiff(columns, names(frame)) else columns
    frame[new] <- rep(list(values), length(new))
  }
  frame
}
