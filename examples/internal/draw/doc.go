// Package draw draws the results of the examples.
package draw
