# Every call from Python goes through guarded(): R's conditions become data instead of console text.

# Call fun(args...). Returns list(value | error | interrupt, warnings, messages).
guarded <- function(fun, args) {
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
    error = function(e) list(error = conditionMessage(e)),
    interrupt = function(i) list(interrupt = TRUE))
  c(result, list(warnings = warnings, messages = messages))
}

# Versions of R and of the packages that are installed (NA where one is not).
versions <- function(packages) {
  one <- function(package)
    tryCatch(as.character(utils::packageVersion(package)), error = function(e) NA_character_)
  c(R = as.character(getRversion()), vapply(packages, one, ""))
}

# Load a package's namespace without attaching it: the user's search path stays as it was.
load.package <- function(package) {
  loadNamespace(package)
  TRUE
}

# For looking at what arrives: the value itself, or its class, type and names.
echo <- function(value) value

describe.value <- function(value) {
  names <- if (is.matrix(value)) colnames(value) else names(value)
  list(class = class(value), type = typeof(value), names = names)
}
