//go:build !linux

package arena

// preferHugePages and renewHuge do nothing where there is no such request.
func preferHugePages([]byte) {}

func renewHuge([]byte) {}
