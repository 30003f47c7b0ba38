// Package source reads the standard library's own source, which comes with every Go
// installation.
package source
