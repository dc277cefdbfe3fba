# Data sets that come with R packages, as named lists of columns.

package.data <- function(name, package) {
  env <- new.env()
  utils::data(list = name, package = package, envir = env)
  frame <- env[[name]]
  as.list(lapply(frame, function(column) if (is.factor(column)) as.character(column) else as.double(column)))
}
