//go:build purego || !(amd64 || arm64 || loong64 || ppc64le || riscv64)

package jsoncol

import "encoding/binary"

// text is read-only input that is followed by at least slack readable bytes.
// This form checks every access.
type text struct{ b []byte }

// newText returns a text over b, which is readable up to its capacity.
func newText(b []byte) text { return text{b[:cap(b)]} }

// byte returns the byte at i.
func (t text) byte(i int) byte { return t.b[i] }

// word returns the 8 bytes from i on, the first one lowest.
func (t text) word(i int) uint64 { return binary.LittleEndian.Uint64(t.b[i:]) }

// slice returns the bytes from i to j.
func (t text) slice(i, j int) []byte { return t.b[i:j:j] }

// string returns the bytes from i to j as a string.
func (t text) string(i, j int) string { return string(t.b[i:j]) }

// putWord stores x at b[i:i+8], lowest byte first.
func putWord(b []byte, i int, x uint64) { binary.LittleEndian.PutUint64(b[i:], x) }

// wordAt returns the 8 bytes of b from i on.
func wordAt(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i:]) }
