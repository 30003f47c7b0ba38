package arena

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tenonml/tenon/internal/throw"
)

// poison fills released memory: NaN as a floating-point number, -1 as an integer.
const poison = 0xFF

// quarantineBytes is the amount of released memory that is quarantined in debug mode.
const quarantineBytes = 64 << 20

var debugMode atomic.Bool

func init() { debugMode.Store(os.Getenv("TENON_ARENA") == "debug") }

func debugging() bool { return debugMode.Load() }

// Debugging reports whether debug mode is on.
func Debugging() bool { return debugging() }

// aside is the quarantine of debug mode: released buffers, oldest first.
var aside struct {
	sync.Mutex
	buffers []*Buffer
	bytes   int
	live    int
}

// SetDebug switches debug mode on or off and reports whether it was on. Either way it empties the
// quarantine and resets the count of [Live].
func SetDebug(on bool) (was bool) {
	aside.Lock()
	defer aside.Unlock()
	aside.buffers, aside.bytes, aside.live = nil, 0, 0
	return debugMode.Swap(on)
}

// Live returns the number of buffers lent and not released since debug mode was switched on, or 0
// if it is off.
func Live() int {
	aside.Lock()
	defer aside.Unlock()
	return aside.live
}

// Check looks for writes to quarantined memory. The error includes the place of each release.
func Check() error {
	aside.Lock()
	defer aside.Unlock()
	var errs []error
	for _, b := range aside.buffers {
		if err := b.intact(); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// recordAlloc counts a loan.
func recordAlloc(b *Buffer) {
	aside.Lock()
	aside.live++
	aside.Unlock()
	b.freed = b.freed[:0]
}

// quarantine poisons b and quarantines it. To make room, the oldest buffers go to the pool;
// quarantine panics if one of them was written to.
func quarantine(b *Buffer) {
	whole := b.data[:cap(b.data)]
	for i := range whole {
		whole[i] = poison
	}
	pcs := make([]uintptr, 16)
	b.freed = pcs[:runtime.Callers(3, pcs)]

	aside.Lock()
	defer aside.Unlock()
	aside.live--
	aside.buffers = append(aside.buffers, b)
	aside.bytes += len(whole)
	for aside.bytes > quarantineBytes && len(aside.buffers) > 1 {
		old := aside.buffers[0]
		aside.buffers[0] = nil
		aside.buffers = aside.buffers[1:]
		aside.bytes -= cap(old.data)
		if err := old.intact(); err != nil {
			throw.Bug("%v", err)
		}
		pools[old.class].Put(old)
	}
}

// intact returns an error if the poison in b has been overwritten.
func (b *Buffer) intact() error {
	for i, v := range b.data[:cap(b.data)] {
		if v != poison {
			return fmt.Errorf("arena: byte %d of a buffer of %d bytes was written after its release%s", i, len(b.data), b.where())
		}
	}
	return nil
}

// where describes the release of b, if debug mode recorded it.
func (b *Buffer) where() string {
	if len(b.freed) == 0 {
		return ""
	}
	var s strings.Builder
	s.WriteString(" at")
	for frames := runtime.CallersFrames(b.freed); ; {
		f, more := frames.Next()
		fmt.Fprintf(&s, "\n\t%s (%s:%d)", f.Function, f.File, f.Line)
		if !more {
			return s.String()
		}
	}
}

// misuse returns the panic message for an operation on a released buffer.
func misuse(what string, b *Buffer) string {
	return fmt.Sprintf("arena: %s a buffer of %d bytes that was released%s", what, len(b.data), b.where())
}
