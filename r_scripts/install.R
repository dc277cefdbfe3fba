# R's packages for pyearthdof, on machines without Debian's: Rscript install.R
# earth is needed; mda and kernlab serve the paper's comparisons; the others serve the tests.
wanted <- c("earth", "mda", "kernlab", "glmnet", "leaps", "mvtnorm", "quadprog")
missing <- wanted[!vapply(wanted, requireNamespace, TRUE, quietly = TRUE)]
if (length(missing)) {
  install.packages(missing)
} else {
  message("all packages are here")
}
