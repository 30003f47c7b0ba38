// Package generated maintains files that tests generate: pages of the documentation, and code.
package generated
