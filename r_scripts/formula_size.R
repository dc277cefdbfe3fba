# How much a formula makes, counted before R computes anything: a short text can ask for more terms or columns
# than any machine holds.

# An upper bound of the number of terms, counted before R makes them. A chain such as a + b + c is nested to
# the left, as deep as it is long: walked down, not by recursion.
count.terms <- function(expression, n.columns) {
  chain <- list()
  while (is.term.operator(expression)) {
    chain <- c(chain, list(expression))
    expression <- expression[[2]]
  }
  count <- if (identical(expression, quote(.))) n.columns else 1
  for (call in rev(chain)) {
    right <- if (length(call) == 3 && !identical(call[[1]], quote(`^`))) count.terms(call[[3]], n.columns)
    count <- if (length(call) == 2) count else switch(as.character(call[[1]]),
      "+" = , "-" = , "/" = count + right, ":" = , "%in%" = count * right,
      "*" = count + right + count * right,
      # All different products of at most so many terms.
      "^" = sum(choose(count, seq_len(min(call[[3]], count)))))
  }
  count
}

is.term.operator <- function(expression)
  is.call(expression) && as.character(expression[[1]]) %in% c("+", "-", "*", "/", ":", "%in%", "^", "(")

# Refuse a formula whose terms or columns are too many, before anything is computed from the data.
check.size <- function(formula, data) {
  count <- count.terms(formula[[3]], ncol(data))
  if (count > formula.limits$terms)
    refuse.formula("it may make ", format(count, digits = 3), " terms but it should make at most ",
                   formula.limits$terms)
  terms <- tryCatch(stats::terms(formula, data = data), error = function(e)
    refuse.formula("R cannot make terms of it (", conditionMessage(e), ")"))
  factors <- attr(terms, "factors")
  if (!length(factors)) return(if (!is.sum(formula[[2]])) refuse.formula("it has no predictors"))
  if (attr(terms, "response") && any(factors[attr(terms, "response"), ] > 0))
    refuse.formula("the response ", short.text(formula[[2]]), " stands on the right-hand side, too")
  variables <- as.list(attr(terms, "variables"))[-1]
  plain <- vapply(variables, is.name, NA)
  # earth compares all variables with each other in R, slowly where several are made of one column.
  if (sum(!plain) > formula.limits$functions)
    refuse.formula("it has ", sum(!plain), " different functions but it should have at most ",
                   formula.limits$functions)
  widths <- vapply(variables, count.columns, 0, data = data)
  is.plain <- colSums(factors > 0) == 1 & colSums(factors * plain) > 0
  columns <- sum(vapply(which(!is.plain), function(k) prod(widths[factors[, k] > 0]), 0))
  if (columns > formula.limits$columns)
    refuse.formula("its functions and products make ", format(columns, digits = 3),
                   " columns but they should make at most ", formula.limits$columns)
  if (columns * nrow(data) > formula.limits$numbers)
    refuse.formula("its functions and products make ", columns, " columns of ", nrow(data),
                   " rows, but at most ", formula.limits$numbers, " numbers are taken")
}

# How many columns a variable makes, or a few more.
count.columns <- function(variable, data) {
  if (is.name(variable)) return(count.levels(data[[as.character(variable)]]))
  name <- as.character(variable[[1]])
  if (!name %in% c("poly", "bs", "ns")) return(if (name == "cbind") length(variable) - 1 else 1)
  args <- matched.arguments(variable, name)
  degree <- if (!is.null(args$degree)) args$degree else if (name == "poly") 1 else 3
  if (name == "poly") return(choose(sum(names(args) == "x") + degree, degree) - 1)
  1 + degree + max(count.numbers(args$knots), args$df, 0)
}

count.levels <- function(values)
  if (is.factor(values)) nlevels(values) else if (is.logical(values)) 2 else 1
