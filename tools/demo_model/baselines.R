# SPDX-License-Identifier: Apache-2.0
# Forecasts of the R package `forecast`: reads lines "id,season,horizon,value,...", writes lines
# "method,id,step,q10,...,q90". Usage: Rscript baselines.R INPUT OUTPUT CORES ADDITIVE WITH_ARIMA (the last two: 0 or 1)
suppressMessages(library(forecast))
arguments <- commandArgs(trailingOnly = TRUE)
additive <- arguments[4] == "1"
with_arima <- arguments[5] == "1"

quantiles <- function(method, id, model, horizon) {
  result <- forecast(model, h = horizon, level = c(20, 40, 60, 80))
  columns <- cbind(result$lower[, 4:1, drop = FALSE], result$mean, result$upper[, 1:4, drop = FALSE])
  paste(method, id, seq_len(horizon), apply(columns, 1, paste, collapse = ","), sep = ",")
}

lines <- strsplit(readLines(arguments[1]), ",")
fit <- function(fields) {
  numbers <- as.numeric(fields)
  series <- ts(numbers[-(1:3)], frequency = numbers[2])
  # A history that never changes has nothing to fit.
  if (sd(series) == 0) {
    return(paste(c("ets", if (with_arima) "arima"), numbers[1], rep(seq_len(numbers[3]), each = 1 + with_arima),
                 paste(rep(series[1], 9), collapse = ","), sep = ","))
  }
  c(quantiles("ets", numbers[1], ets(series, additive.only = additive), numbers[3]),
    if (with_arima) quantiles("arima", numbers[1], auto.arima(series), numbers[3]))
}
results <- parallel::mclapply(lines, fit, mc.cores = as.integer(arguments[3]))
# A fit that fails is an error in the list, and one whose process died is nothing at all.
failed <- vapply(results, function(result) is.null(result) || inherits(result, "try-error"), logical(1))
if (any(failed)) {
  stop(sum(failed), " of ", length(lines), " series have no forecast; the first: ", results[failed][1])
}
writeLines(unlist(results), arguments[2])
