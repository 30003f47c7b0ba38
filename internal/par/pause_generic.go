//go:build !amd64 || purego

package par

import "sync/atomic"

var spun atomic.Uint32

// pause passes about 40 ns.
func pause() {
	for range 64 {
		spun.Load()
	}
}
