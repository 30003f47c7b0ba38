//go:build !amd64 || purego

package stream

var kernel func(dst, src *byte, n int, ahead *byte)

func fetch(uintptr, int) {}
