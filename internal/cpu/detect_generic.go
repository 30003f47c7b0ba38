//go:build !amd64 || purego

package cpu

func detect() Level { return Generic }

// PermutesBytes reports whether the machine has the instructions of that name.
func PermutesBytes() bool { return false }
