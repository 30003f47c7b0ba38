// Package howto tests the pages that people read: README.md, CONTRIBUTING.md and those of docs. Go in
// them is an example of this package, a whole program that is run, or a passage of another package;
// what they say commands print is compared with what they print.
package howto
