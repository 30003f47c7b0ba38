// Package abort ends reading when a context ends, even if a read hangs.
package abort
