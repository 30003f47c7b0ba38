package arena

import (
	"syscall"
	"unsafe"
)

// hugePage is the size of a large page where it matters.
const hugePage = 2 << 20

// adviseHuge is MADV_HUGEPAGE of madvise(2).
const adviseHuge = 14

// preferHugePages asks for large pages behind the whole ones inside b. On common
// systems they are given on request only; streaming a matrix of 64 MiB is a
// tenth faster with them. A refusal changes nothing, so the error is not looked at.
func preferHugePages(b []byte) {
	if len(b) < 2*hugePage {
		return
	}
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & (hugePage - 1))
	whole := (len(b) - skip) &^ (hugePage - 1)
	if whole > 0 {
		syscall.Madvise(b[skip:skip+whole], adviseHuge)
	}
}
