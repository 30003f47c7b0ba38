// Package draw draws what the examples come to.
package draw
