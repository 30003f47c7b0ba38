// Package progress shows how far something is: a bar on a terminal, nothing
// anywhere else, so that logs and pipes stay plain.
package progress
