package arena

import (
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// hugePage is the size of a huge page on the systems where this matters.
const hugePage = 2 << 20

// Requests of madvise(2).
const (
	adviseHuge   = 14 // MADV_HUGEPAGE
	adviseForget = 4  // MADV_DONTNEED
)

// preferHugePages requests huge pages for b if it is long enough; most systems provide them only on
// request. Faulting in 2 MiB at once takes a tenth of the time that 512 small pages take, and
// streaming to them is a tenth to a third faster. The request includes the pages that b shares with
// its neighbours: like b, they belong to the runtime's heap, which is laid out in larger units. A
// refusal changes nothing, so the error is ignored.
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

// grown holds the numbers of the huge pages that growHuge requested last.
var grown [64]atomic.Uintptr

// growHuge requests the huge page that b starts in, and the next one if b extends into it,
// so that a heap that grows under a ballast faults in huge pages rather than small ones.
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

// smallPages is the number of ordinary pages in a huge page.
var smallPages = hugePage / os.Getpagesize()

// resident returns how many ordinary pages of b, which covers one huge page, are resident, or all
// if the system does not tell. A huge page counts as all of its ordinary pages.
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

// loans counts how often memory was lent, by the number of its huge page modulo 256.
var loans = struct {
	sync.Mutex
	of map[uintptr]uint8
}{of: map[uintptr]uint8{}}

// renewAt is the number of the loan at which a page is first renewed.
const renewAt = 3

// renewHuge is preferHugePages for memory whose contents are not needed. The request has no
// effect on ordinary pages that are already resident, such as those left by the runtime's
// heap, and the runtime splits huge pages when it returns part of them to the system. Memory
// that is lent repeatedly is therefore returned to the system once in a while, which
// provides huge pages at the next access. That costs as much as a few uses gain, so it
// happens at the third loan and at each 256th from there on. If part of a page is not
// resident at its first loan, the page consists of ordinary pages, and faulting in the
// missing ones individually would take longer; if none of it is resident, it comes as a huge
// page anyway.
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
