# The R side of rserver.py: read a case from stdin, fit it with earth, answer on the file descriptor
# whose number is the argument.
# All that crosses the pipes are little-endian doubles and texts (a length, then as many bytes).
suppressMessages(library(earth))
requests <- file("stdin", "rb")
answers <- file(file.path("/dev/fd", commandArgs(trailingOnly = TRUE)[1]), "wb")

read.numbers <- function(count) readBin(requests, "double", count, endian = "little")

read.text <- function() {
  bytes <- readBin(requests, "raw", read.numbers(1))
  rawToChar(bytes)
}

# An argument is its name, its kind and its values.
read.arguments <- function(count) {
  arguments <- list()
  for (i in seq_len(count)) {
    name <- read.text()
    kind <- read.text()
    arguments[[name]] <- switch(kind,
      text = read.text(),
      flag = read.numbers(1) != 0,
      numbers = read.numbers(read.numbers(1)))
  }
  arguments
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

parts.of <- function(fit, x.new) {
  list(
    dirs = fit$dirs, cuts = fit$cuts, selected = fit$selected.terms, coef = fit$coefficients,
    rss = fit$rss, rsq = fit$rsq, gcv = fit$gcv, grsq = fit$grsq,
    rss_per_subset = fit$rss.per.subset, gcv_per_subset = fit$gcv.per.subset,
    prune_terms = fit$prune.terms, fitted = fit$fitted.values, leverages = fit$leverages,
    nk = fit$nk, penalty = fit$penalty, termcond = fit$termcond,
    predicted = predict(fit, x.new))
}

repeat {
  size <- read.numbers(4) # rows, columns, 1 if there are weights, arguments
  if (length(size) < 4) break
  x <- matrix(read.numbers(size[1] * size[2]), size[1], size[2])
  y <- read.numbers(size[1])
  arguments <- list(x = quote(x), y = quote(y))
  if (size[3] == 1) {
    weights <- read.numbers(size[1])
    arguments$weights <- quote(weights)
  }
  arguments <- c(arguments, read.arguments(size[4]))
  x.new <- matrix(read.numbers(size[1] * size[2]), size[1], size[2])
  warned <- character(0)
  answer <- tryCatch(
    withCallingHandlers({
      fit <- do.call("earth", arguments)
      list(names = rownames(fit$dirs), parts = parts.of(fit, x.new))
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
    write.parts(answer$parts)
  }
  flush(answers)
}
