// Package window goes over the windows of arrays of positions: which runs of positions lie in
// which runs of a window's elements, and their products with the kernels of convolutions.
package window
