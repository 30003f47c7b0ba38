package progress

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// A Bar shows how many of a number of steps are done. A nil Bar shows nothing.
// It is safe for concurrent use.
type Bar struct{ bar *progressbar.ProgressBar }

// New makes a bar on f for a number of steps, or nil if f is not a terminal that can redraw a
// line. label names the steps.
func New(f *os.File, label string, steps int) *Bar {
	if !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return newBar(f, label, steps)
}

func newBar(w io.Writer, label string, steps int) *Bar {
	return &Bar{progressbar.NewOptions(steps,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription(label),
		progressbar.OptionSetWidth(30),
		progressbar.OptionShowCount(),
		progressbar.OptionShowIts(),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(50*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)}
}

// Set says how many steps are done.
func (b *Bar) Set(done int) {
	if b != nil {
		b.bar.Set(done) // a terminal that has gone away is no reason to stop
	}
}

// Describe changes the label.
func (b *Bar) Describe(label string) {
	if b != nil {
		b.bar.Describe(label)
	}
}

// Close takes the bar off the screen, finished or not.
func (b *Bar) Close() {
	if b != nil {
		b.bar.Clear()
		b.bar.Exit()
	}
}
