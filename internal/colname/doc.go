// Package colname makes the names of columns unique.
package colname
