//go:build !linux

package arena

// preferHugePages does nothing where there is no such request.
func preferHugePages([]byte) {}
