// Package colname gives columns of files names that differ.
package colname
