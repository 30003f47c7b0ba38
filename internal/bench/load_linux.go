package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// pageFaults returns the number of page faults so far that needed no disk.
func pageFaults() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return u.Minflt
}

// residentBytes returns the memory that the process holds now, and held at most.
func residentBytes() (now, peak int64) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) == nil {
		peak = u.Maxrss * 1024
	}
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, peak
	}
	if f := strings.Fields(string(b)); len(f) > 1 {
		n, _ := strconv.ParseInt(f[1], 10, 64)
		now = n * int64(os.Getpagesize())
	}
	return now, peak
}

// load measures how much of the machine others use.
type load struct {
	start     time.Time
	all, mine float64 // seconds of CPU
}

func startLoad() load { return load{time.Now(), busy(), own()} }

// others returns the number of CPUs that other processes used since the start.
func (l load) others() float64 {
	wall := time.Since(l.start).Seconds()
	if wall < 0.05 || l.all < 0 {
		return 0
	}
	return max(0, float64(int(1000*((busy()-l.all)-(own()-l.mine))/wall))/1000)
}

func own() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// busy returns the seconds that all CPUs of the machine have worked, and -1 where
// that is not known. The kernel counts in hundredths of a second.
func busy() float64 {
	f, err := os.Open("/proc/stat")
	if err != nil {
		return -1
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	if !s.Scan() {
		return -1
	}
	total := 0.0
	for i, field := range strings.Fields(s.Text()) {
		if i == 0 || i == 4 || i == 5 || i > 8 { // the name, idle, waiting; guests are counted already
			continue
		}
		n, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return -1
		}
		total += n / 100
	}
	return total
}

// pinned tells the process that it has been started again, pinned.
const pinned = "TENON_BENCH_PINNED"

// pin starts the process again on the last of its CPUs only.
func pin() error {
	if os.Getenv(pinned) != "" {
		return nil
	}
	var mask [1024 / 64]uint64
	runtime.LockOSThread()
	size := unsafe.Sizeof(mask)
	if _, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, 0, size, uintptr(unsafe.Pointer(&mask))); errno != 0 {
		return fmt.Errorf("which CPUs there are: %w", errno)
	}
	last := -1
	for i := range 64 * len(mask) {
		if mask[i/64]>>(i%64)&1 == 1 {
			last = i
		}
	}
	if last < 0 {
		return fmt.Errorf("there is no CPU to pin to")
	}
	clear(mask[:])
	mask[last/64] = 1 << (last % 64)
	if _, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, size, uintptr(unsafe.Pointer(&mask))); errno != 0 {
		return fmt.Errorf("pinning to CPU %d: %w", last, errno)
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	return syscall.Exec(exe, os.Args, append(os.Environ(), pinned+"=1"))
}
