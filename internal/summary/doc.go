// Package summary tells what is in columns: how many values there are and how many are missing, the
// least, the greatest, the mean, quantiles and an estimate of how many differ, a batch at a time, in
// memory that does not grow with the data.
package summary
