package mpi

import "runtime"

const maxCores = 1024

// ownCores returns a bit for each core. Processes are not bound to cores.
func ownCores() (bits [maxCores / 64]uint64) {
	for i := range min(runtime.NumCPU(), maxCores) {
		bits[i/64] |= 1 << (i % 64)
	}
	return bits
}
