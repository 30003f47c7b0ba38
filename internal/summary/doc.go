// Package summary computes statistics of columns: the numbers of present and missing values,
// minimum, maximum, mean, quantiles and an estimate of the number of distinct values. It processes a
// batch at a time, in memory that does not grow with the data.
package summary
