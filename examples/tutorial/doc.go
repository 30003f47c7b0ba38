// Package tutorial tests the programs of docs/tutorial.md.
package tutorial
