package mpi

import "golang.org/x/sys/unix"

const maxCores = 1024

// ownCores returns a bit for each core that the process may run on.
func ownCores() (bits [maxCores / 64]uint64) {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) == nil {
		for i := range maxCores {
			if set.IsSet(i) {
				bits[i/64] |= 1 << (i % 64)
			}
		}
	}
	return bits
}
