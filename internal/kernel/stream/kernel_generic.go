//go:build !amd64 || purego

package stream

var kernel func(dst, src *byte, n int, ahead uintptr)

func fetch(uintptr, int) {}
