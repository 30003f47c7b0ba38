package arena

import (
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// hugePage is the size of a large page where it matters.
const hugePage = 2 << 20

// Requests of madvise(2).
const (
	adviseHuge   = 14 // MADV_HUGEPAGE
	adviseForget = 4  // MADV_DONTNEED
)

// preferHugePages asks for large pages behind b, if it is long enough. On common
// systems they are given on request only. A system hands out 2 MiB at once in a tenth
// of the time that 512 small pages take, and memory is streamed to them a tenth to a
// third faster. The request goes for the pages that b shares with its neighbours, too:
// those belong to the runtime's heap like b, which is laid out in larger units. A
// refusal changes nothing, so the error is not looked at.
func preferHugePages(b []byte) {
	if len(b) < 2*hugePage {
		if len(b) >= ballastFrom && weight.watched.Load() {
			growHuge(b)
		}
		return
	}
	start := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	first, end := start&^(hugePage-1), (start+uintptr(len(b))+hugePage-1)&^(hugePage-1)
	syscall.RawSyscall(syscall.SYS_MADVISE, first, end-first, adviseHuge)
}

// grown are the numbers of the large pages that growHuge asked for last.
var grown [64]atomic.Uintptr

// growHuge asks for the large page that b starts in, and for the next one where b goes on
// there. A heap that is allowed to grow under a ballast grows by large pages then, not by a
// fault for each small one.
func growHuge(b []byte) {
	start := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	for page := start / hugePage; page <= (start+uintptr(len(b))-1)/hugePage; page++ {
		last := &grown[page%uintptr(len(grown))]
		if last.Load() != page {
			last.Store(page)
			syscall.RawSyscall(syscall.SYS_MADVISE, page*hugePage, hugePage, adviseHuge)
		}
	}
}

// smallPages is the number of the system's pages in a large one.
var smallPages = hugePage / os.Getpagesize()

// resident returns how many small pages of b, which covers one large page, have memory behind
// them; all, where the system does not tell. A large page counts as all of its small ones.
func resident(b []byte) int {
	var is [hugePage / (4 << 10)]byte
	_, _, errno := syscall.RawSyscall(syscall.SYS_MINCORE, uintptr(unsafe.Pointer(unsafe.SliceData(b))), hugePage,
		uintptr(unsafe.Pointer(&is)))
	if errno != 0 {
		return smallPages
	}
	n := 0
	for _, r := range is {
		n += int(r & 1)
	}
	return n
}

// loans counts how often memory was lent, by the number of the large page, modulo 256.
var loans = struct {
	sync.Mutex
	of map[uintptr]uint8
}{of: map[uintptr]uint8{}}

// renewAt is the number of the loan at which a page is renewed.
const renewAt = 3

// renewHuge is preferHugePages for memory whose contents nobody needs. The request
// says nothing about small pages that are there already, such as those that the
// runtime's heap leaves, and the runtime breaks large ones when it returns part of them
// to the system. Memory that is lent again and again is therefore given back to the
// system once in a while, which has large pages for it at the next touch. That takes as
// long as a few uses gain: hence the third loan, and each 256th from there on. Where part of
// a page is missing at its first loan, there are small ones, and fetching the others one by
// one takes longer; where all of it is missing, it comes as a large one.
func renewHuge(b []byte) {
	preferHugePages(b)
	if len(b) < 2*hugePage {
		return
	}
	start := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	skip := int(-start & (hugePage - 1))
	loans.Lock()
	defer loans.Unlock()
	for at := skip; at+hugePage <= len(b); at += hugePage {
		page := (start + uintptr(at)) / hugePage
		n := loans.of[page] + 1
		if n == 1 && resident(b[at:][:hugePage]) < smallPages {
			n = renewAt
		}
		loans.of[page] = n
		if n == renewAt {
			syscall.Madvise(b[at:at+hugePage], adviseForget)
		}
	}
}
