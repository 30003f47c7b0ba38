// Package window iterates over the windows of arrays: which runs of positions correspond to which
// runs of window elements, and the products of windows with convolution kernels.
package window
