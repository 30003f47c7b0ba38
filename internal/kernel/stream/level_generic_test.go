//go:build !amd64 || purego

package stream

import "testing"

func eachLevel(t *testing.T, f func(t *testing.T)) { t.Run("generic", f) }
