//go:build linux

package wire

import (
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// Entries that end with the memory of the process are read up to there, whatever their
// lengths say. Reading beyond is a fault, not a failure.
func TestNoteAtTheEndOfMemory(t *testing.T) {
	page := syscall.Getpagesize()
	mem, err := syscall.Mmap(-1, 0, 2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Munmap(mem); err != nil {
			t.Error(err)
		}
	}()
	if err := syscall.Mprotect(mem[page:], syscall.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	draw := rand.New(rand.NewPCG(15, 16))
	for range 3000 {
		a, _ := anEntry("", intsTag, true, make([]byte, draw.IntN(3)))
		b, _ := anEntry("bytes", bytesTag, false, make([]byte, draw.IntN(2)*300))
		c, _ := anEntry(strings.Repeat("long", 13), intsTag, true, make([]byte, draw.IntN(3)*70))
		body := slices.Concat(a, b, c)[:1+draw.IntN(len(a)+len(b)+len(c))]
		if draw.IntN(2) == 0 {
			body[draw.IntN(len(body))] = byte(draw.Uint32())
		}
		m := field(firstTag, body)
		at := mem[page-len(m) : page : page]
		copy(at, m)
		table, _ := aTable(t, 1)
		Note([][]byte{at}, table, 0, 1)
	}
}

// The kernel knows where the fields of an entry lie.
func TestEntryLayout(t *testing.T) {
	var e Entry
	got := []uintptr{unsafe.Offsetof(e.all), unsafe.Offsetof(e.lengths), unsafe.Offsetof(e.size), unsafe.Offsetof(e.least),
		unsafe.Offsetof(e.key), unsafe.Offsetof(e.tag), unsafe.Offsetof(e.packed), unsafe.Offsetof(e.rows), unsafe.Sizeof(e)}
	if want := []uintptr{64, 72, 80, 88, 96, 104, 112, 120, 128}; unsafe.Sizeof(uintptr(0)) == 8 && !slices.Equal(got, want) {
		t.Errorf("fields at %v, not %v", got, want)
	}
}
