//go:build !linux

package arena

// preferHugePages and renewHuge do nothing on systems without such requests.
func preferHugePages([]byte) {}

func renewHuge([]byte) {}
