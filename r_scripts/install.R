# Install R's packages for pyearthdof on machines without Debian's packages: Rscript install.R
# earth is required; mda and kernlab are for the paper's comparisons, the others for the tests.
wanted <- c("earth", "mda", "kernlab", "glmnet", "leaps", "mvtnorm", "quadprog")
missing <- wanted[!vapply(wanted, requireNamespace, TRUE, quietly = TRUE)]
if (length(missing)) {
  install.packages(missing)
} else {
  message("all packages are here")
}
