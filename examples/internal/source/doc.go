// Package source reads the standard library's own source, which every machine with Go has.
package source
