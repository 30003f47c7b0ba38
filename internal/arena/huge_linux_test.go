package arena

import (
	"syscall"
	"testing"
	"unsafe"
)

// Memory that nobody touched is not there, and one byte that somebody did makes a page present.
func TestAnyResident(t *testing.T) {
	raw, err := syscall.Mmap(-1, 0, 2*hugePage, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Skipf("no memory from the system to look at: %v", err)
	}
	defer syscall.Munmap(raw)
	skip := int(-uintptr(unsafe.Pointer(&raw[0])) & (hugePage - 1))
	page := raw[skip:][:hugePage]
	if anyResident(page) {
		t.Error("a page that nobody touched counts as present")
	}
	page[hugePage-1] = 1
	if !anyResident(page) {
		t.Error("a page whose last byte was written counts as absent")
	}
}
