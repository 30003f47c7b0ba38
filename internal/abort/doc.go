// Package abort ends reading when a context does, also where a read hangs.
package abort
