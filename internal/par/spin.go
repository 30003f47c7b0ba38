package par

import "sync/atomic"

var spun atomic.Uint32

// pause passes about 40 ns. Architectures that have an instruction for it put it here.
var pause = func() {
	for range 64 {
		spun.Load()
	}
}
