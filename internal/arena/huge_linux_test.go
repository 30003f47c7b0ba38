package arena

import (
	"syscall"
	"testing"
	"unsafe"
)

// Memory that nobody touched is not there, and bytes that somebody did are.
func TestResident(t *testing.T) {
	raw, err := syscall.Mmap(-1, 0, 2*hugePage, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skipf("no memory from the system to look at: %v", err)
	}
	defer syscall.Munmap(raw)
	skip := int(-uintptr(unsafe.Pointer(&raw[0])) & (hugePage - 1))
	page := raw[skip:][:hugePage]
	if n := resident(page); n != 0 {
		t.Errorf("%d pages are there before anybody touched one", n)
	}
	page[hugePage-1] = 1
	if n := resident(page); n == 0 {
		t.Error("no page is there after its last byte was written")
	}
	clear(page)
	if n := resident(page); n != smallPages {
		t.Errorf("%d of %d pages are there after all were written", n, smallPages)
	}
}
