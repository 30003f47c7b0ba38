package memory

import (
	"syscall"
	"unsafe"
)

// limits returns the memory of the machine.
func limits() []int64 {
	type status struct {
		length, load                                           uint32
		total, free, totalPage, freePage, virtual, freeVirtual uint64
		extended                                               uint64
	}
	s := status{}
	s.length = uint32(unsafe.Sizeof(s))
	f := syscall.NewLazyDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")
	if f.Find() != nil {
		return nil
	}
	if ok, _, _ := f.Call(uintptr(unsafe.Pointer(&s))); ok == 0 || s.total >= 1<<62 {
		return nil
	}
	return []int64{int64(s.total)}
}
