//go:build !amd64 || purego

package elementwise

import "testing"

func eachLevel(t *testing.T, f func(t *testing.T)) { t.Run("generic", f) }
