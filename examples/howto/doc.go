// Package howto tests the pages of docs/data: their programs are the examples of this package.
package howto
