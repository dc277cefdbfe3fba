# The R side of rscript.py: read every variable of <folder>/in, source code.R, write the list `out`.
folder <- commandArgs(trailingOnly = TRUE)[1]

read.value <- function(file) {
  lines <- readLines(file, encoding = "UTF-8", warn = FALSE)
  kind <- strsplit(lines[1], " ")[[1]]
  body <- lines[-1]
  if (kind[1] == "string") return(body)
  if (kind[1] == "frame") return(read.frame(body))
  values <- as.numeric(body)
  dims <- as.integer(kind[-1])
  if (length(dims) == 2) matrix(values, dims[1], dims[2]) else values
}

read.frame <- function(body) {
  columns <- list()
  while (length(body)) {
    head <- strsplit(body[1], " ")[[1]]
    n <- as.integer(head[2])
    values <- body[2 + seq_len(n)]
    columns[[body[2]]] <- if (head[1] == "number") as.numeric(values) else values
    body <- body[-seq_len(n + 2)]
  }
  data.frame(columns, check.names = FALSE, stringsAsFactors = TRUE)
}

write.value <- function(value, file) {
  if (is.character(value) || is.factor(value)) {
    writeLines(c("string", enc2utf8(as.character(value))), file, useBytes = TRUE)
  } else {
    dims <- if (is.matrix(value)) dim(value) else length(value)
    writeLines(c(paste(c("array", dims), collapse = " "), sprintf("%a", as.double(value))), file)
  }
}

# For many cases in one run, for (i in ...) tryCatch({...}, error = refused): what R refuses is missing in
# its own case only, and why is told afterwards.
refusals <- character(0)
refused <- function(e) refusals <<- c(refusals, paste0("case ", i, ": ", conditionMessage(e)))

for (file in list.files(file.path(folder, "in"), full.names = TRUE))
  assign(sub("\\.txt$", "", basename(file)), read.value(file))
source(file.path(folder, "code.R"), encoding = "UTF-8")
for (name in names(out))
  write.value(out[[name]], file.path(folder, "out", paste0(name, ".txt")))
writeLines(refusals, file.path(folder, "refusals.txt"))
