# Import and export of earth objects.

earth.read <- function(path) earth.adopt(readRDS(path))

# The parts that Python stores of an earth object fitted in R.
earth.adopt <- function(fit) {
  if (!inherits(fit, "earth"))
    stop("this R object is of class ", paste(class(fit), collapse = ", "), ", not earth", call. = FALSE)
  degree <- fit$call$degree
  c(describe.earth(fit),
    list(object = serialize(fit, NULL), weights = fit$weights,
         prior.weights = if (!is.null(fit$glm.list)) fit$glm.list[[1]]$prior.weights,
         degree = if (is.numeric(degree)) degree, varmod = fit$varmod$method,
         columns = if (is.null(fit$terms) && is.data.frame(fit$x)) describe.columns(fit$x),
         formula = if (!is.null(fit$terms)) describe.formula(fit)))
}

# Kinds and levels of the columns of x, available in fits with keepxy = TRUE.
describe.columns <- function(x) lapply(x, function(column) {
  if (is.factor(column))
    list(kind = if (is.ordered(column)) "ordered" else "factor", levels = levels(column))
  else if (is.character(column)) list(kind = "factor", levels = levels(factor(column)))
  else if (is.logical(column)) list(kind = "logical", levels = c("FALSE", "TRUE"))
  else list(kind = "number", levels = NULL)
})

# An earth object from its parts (see robject.py), as bytes.
earth.build <- function(parts) {
  names <- colnames(parts$dirs)
  dimnames(parts$dirs) <- dimnames(parts$cuts) <- list(parts$term.names, names)
  chosen <- parts$term.names[parts$selected.terms]
  rownames(parts$coefficients) <- colnames(parts$bx) <- chosen
  parts$call <- call("earth", x = quote(x), y = quote(y), degree = parts$degree)
  parts$namesx <- parts$modvars[[1]]
  parts$modvars <- parts$modvars[[2]]
  rownames(parts$modvars) <- parts$namesx
  parts$term.names <- parts$degree <- NULL
  serialize(structure(parts, class = "earth"), NULL)
}
