// Package howto tests the pages of documentation: README.md, CONTRIBUTING.md and those in docs. Go code on
// a page is an example of this package, a complete program that is run, or an excerpt from another package.
// The tests compare the output of commands with the output shown on the page.
package howto
