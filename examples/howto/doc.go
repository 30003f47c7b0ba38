// Package howto tests the pages of docs/data, and docs/serving.md: their programs are the examples of
// this package.
package howto
