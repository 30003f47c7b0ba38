package par

import "sync/atomic"

var spun atomic.Uint32

// pause takes about 40 ns. Architectures with a suitable instruction replace it.
var pause = func() {
	for range 64 {
		spun.Load()
	}
}
