# Every call from Python goes through guarded(): R's conditions become data instead of console text.

# Options that change R's results or output. A call uses R's defaults, independent of the user's
# settings.
plain.options <- list(
  contrasts = c(unordered = "contr.treatment", ordered = "contr.poly"), deparse.max.lines = NULL,
  digits = 7L, max.print = 99999L, na.action = "na.omit", OutDec = ".", scipen = 0L,
  show.signif.stars = TRUE, warn = 0L, warnPartialMatchArgs = FALSE, warnPartialMatchAttr = FALSE,
  warnPartialMatchDollar = FALSE, width = 80L)

# Call fun(args...). Returns list(value | error, column and refused | interrupt, warnings, messages);
# refused marks an error in the user's input, with a message of this package.
# The user's options and random numbers are restored afterwards.
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

# Evaluate an expression about column j of several; an error in it reports the column.
at.column <- function(j, expr)
  tryCatch(expr, error = function(e)
    stop(structure(class = c("column.error", "error", "condition"),
                   list(message = conditionMessage(e), call = NULL, column = as.double(j)))))

# Versions of R and of the packages (NA if not installed).
versions <- function(packages) {
  one <- function(package)
    tryCatch(as.character(utils::packageVersion(package)), error = function(e) NA_character_)
  c(R = as.character(getRversion()), vapply(packages, one, ""))
}

# Load a package's namespace without attaching it, which keeps the user's search path.
load.package <- function(package) {
  check.installed(package)
  loadNamespace(package)
  TRUE
}

# A package's code is in R/<package>.rdb, indexed by R/<package>.rdx. R crashes, and Python with it, if
# the file ends before an indexed position. Check this first, also for imported packages.
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
      stop("the file ", code, ".rdb is truncated", call. = FALSE)
  }
  imports <- readRDS(file.path(folder, "Meta", "nsInfo.rds"))$imports
  for (imported in unique(vapply(imports, function(i) i[[1]], ""))) check.installed(imported)
}

# The folder of an installed package; empty if it is not installed.
find.installed <- function(package) find.package(package, quiet = TRUE)

# To inspect converted values: the value itself, or its class, type and names.
echo <- function(value) value

describe.value <- function(value) {
  names <- if (is.matrix(value)) colnames(value) else names(value)
  list(class = class(value), type = typeof(value), names = names)
}
