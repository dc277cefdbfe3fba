# Every call from Python goes through guarded(): R's conditions become data instead of console text.

# Options that change what R computes or prints. A call has R's own defaults, whatever the user of this
# R has set.
plain.options <- list(
  contrasts = c(unordered = "contr.treatment", ordered = "contr.poly"), deparse.max.lines = NULL,
  digits = 7L, max.print = 99999L, na.action = "na.omit", OutDec = ".", scipen = 0L,
  show.signif.stars = TRUE, warn = 0L, warnPartialMatchArgs = FALSE, warnPartialMatchAttr = FALSE,
  warnPartialMatchDollar = FALSE, width = 80L)

# Call fun(args...). Returns list(value | error, column and refused | interrupt, warnings, messages);
# refused says that what the user passed is at fault, and the message a sentence of ours.
# The user's options and random numbers are afterwards as they were.
guarded <- function(fun, args) {
  users <- options(plain.options)
  seed <- get0(".Random.seed", globalenv(), inherits = FALSE)
  on.exit({
    put.back.seed(seed)
    options(users)
  })
  warnings <- character(0)
  messages <- character(0)
  result <- tryCatch(
    withCallingHandlers(
      list(value = do.call(fun, args, quote = TRUE)),
      warning = function(w) {
        warnings <<- c(warnings, conditionMessage(w))
        invokeRestart("muffleWarning")
      },
      message = function(m) {
        messages <<- c(messages, conditionMessage(m))
        invokeRestart("muffleMessage")
      }),
    error = function(e)
      list(error = conditionMessage(e), column = e$column, refused = inherits(e, "refused")),
    interrupt = function(i) list(interrupt = TRUE))
  c(result, list(warnings = warnings, messages = messages))
}

put.back.seed <- function(seed) {
  if (!is.null(seed)) assign(".Random.seed", seed, envir = globalenv())
  else if (exists(".Random.seed", globalenv(), inherits = FALSE))
    rm(".Random.seed", envir = globalenv())
}

# Evaluate an expression about column j of several; an error in it knows its column.
at.column <- function(j, expr)
  tryCatch(expr, error = function(e)
    stop(structure(class = c("column.error", "error", "condition"),
                   list(message = conditionMessage(e), call = NULL, column = as.double(j)))))

# Versions of R and of the packages that are installed (NA where one is not).
versions <- function(packages) {
  one <- function(package)
    tryCatch(as.character(utils::packageVersion(package)), error = function(e) NA_character_)
  c(R = as.character(getRversion()), vapply(packages, one, ""))
}

# Load a package's namespace without attaching it: the user's search path stays as it was.
load.package <- function(package) {
  check.installed(package)
  loadNamespace(package)
  TRUE
}

# A package's code lies in R/<package>.rdb, and R/<package>.rdx tells where in it. R crashes, and Python
# with it, when the file ends before a place that it is sent to: look first, also at what it imports.
check.installed <- function(package) {
  if (isNamespaceLoaded(package)) return(invisible())
  folder <- find.package(package)
  code <- file.path(folder, "R", package)
  index <- paste0(code, ".rdx")
  if (file.exists(index)) {
    places <- readRDS(index)[c("variables", "references")]
    # Every leaf of the lists is an offset and a length.
    ends <- rapply(places, function(place) sum(as.double(place)), how = "unlist")
    if (max(0, ends) > file.size(paste0(code, ".rdb")))
      stop("the file ", code, ".rdb is cut short", call. = FALSE)
  }
  imports <- readRDS(file.path(folder, "Meta", "nsInfo.rds"))$imports
  for (imported in unique(vapply(imports, function(i) i[[1]], ""))) check.installed(imported)
}

# The folder of an installed package; none if there is no such package.
find.installed <- function(package) find.package(package, quiet = TRUE)

# For looking at what arrives: the value itself, or its class, type and names.
echo <- function(value) value

describe.value <- function(value) {
  names <- if (is.matrix(value)) colnames(value) else names(value)
  list(class = class(value), type = typeof(value), names = names)
}
