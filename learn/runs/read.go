package runs

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
)

// A Run is a record that has been read.
type Run struct {
	Dir string
	Info
	Events  []Event // in the order of their steps
	Resumed []int   // the steps from which it was resumed
	End     string  // why it ended; empty if it is still running or was killed
}

// maxLine bounds the length of a line, and of run.json.
const maxLine = 1 << 24

// Read reads the record in a folder. An incomplete last line, which occurs while a record is
// written, is ignored.
func Read(dir string) (*Run, error) {
	const fn = "runs.Read"
	r := &Run{Dir: dir}
	f, err := os.Open(filepath.Join(dir, infoFile))
	if err != nil {
		e := fail(fn, dir, err)
		e.Hint = "a record is a folder with " + infoFile + " and " + eventsFile
		return nil, e
	}
	b, err := io.ReadAll(io.LimitReader(f, maxLine))
	if err = errors.Join(err, f.Close()); err == nil {
		err = json.Unmarshal(b, &r.Info)
	}
	if err == nil && r.Version > Version {
		err = fmt.Errorf("the record has the form %d, and this program supports forms up to %d", r.Version, Version)
	}
	if err != nil {
		return nil, fail(fn, filepath.Join(dir, infoFile), err)
	}
	e, err := os.Open(filepath.Join(dir, eventsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, fail(fn, dir, err)
	}
	if err := errors.Join(r.read(e), e.Close()); err != nil {
		return nil, fail(fn, filepath.Join(dir, eventsFile), err)
	}
	return r, nil
}

// read reads events.
func (r *Run) read(src io.Reader) error {
	s := bufio.NewScanner(src)
	s.Buffer(nil, maxLine)
	s.Split(wholeLines)
	for n := 1; s.Scan(); n++ {
		if len(bytes.TrimSpace(s.Bytes())) == 0 {
			continue
		}
		var f form
		if err := json.Unmarshal(s.Bytes(), &f); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		switch {
		case f.Resume != nil:
			r.Resumed = append(r.Resumed, *f.Resume)
			r.End = ""
			r.Events = slices.DeleteFunc(r.Events, func(e Event) bool { return e.Step > *f.Resume })
		case f.End != "":
			r.End = f.End
		default:
			r.Events = append(r.Events, f.event())
		}
	}
	slices.SortStableFunc(r.Events, func(a, b Event) int { return cmp.Compare(a.Step, b.Step) })
	return s.Err()
}

// wholeLines is bufio.ScanLines, but ignores a last line without a newline.
func wholeLines(data []byte, atEOF bool) (int, []byte, error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEOF {
		return len(data), nil, nil
	}
	return 0, nil, nil
}

// List reads the record in a folder or, if it has none, all records in the folders below it, in
// the order in which the runs were started.
func List(dir string) ([]*Run, error) {
	const fn = "runs.List"
	var out []*Run
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() || d.Name() != infoFile {
			return nil
		}
		r, err := Read(filepath.Dir(path))
		if err != nil {
			return err
		}
		out = append(out, r)
		return fs.SkipDir // folders inside of a record belong to it
	})
	if err != nil {
		return nil, fail(fn, dir, err)
	}
	slices.SortStableFunc(out, func(a, b *Run) int { return a.Started.Compare(b.Started) })
	return out, nil
}

// Last returns the last event, and false if there is none.
func (r *Run) Last() (Event, bool) {
	if len(r.Events) == 0 {
		return Event{}, false
	}
	return r.Events[len(r.Events)-1], true
}

// Best returns the event with the best score so far, and false if there is no score.
func (r *Run) Best() (best Event, ok bool) {
	for _, e := range r.Events {
		if e.Score != nil && (!ok || e.Best) {
			best, ok = e, true
		}
	}
	return best, ok
}

// A Series is the numbers with one name, by step.
type Series struct {
	Name   string
	Steps  []int
	Values []float64
}

// Series returns the numbers of all events: loss, rate, norm, score and Values, each if there
// is one.
func (r *Run) Series() []Series {
	var out []Series
	at := map[string]int{}
	add := func(name string, step int, v float64) {
		i, ok := at[name]
		if !ok {
			i = len(out)
			at[name] = i
			out = append(out, Series{Name: name})
		}
		out[i].Steps, out[i].Values = append(out[i].Steps, step), append(out[i].Values, v)
	}
	for _, e := range r.Events {
		for _, x := range e.measured() {
			add(x.name, e.Step, x.value)
		}
	}
	return out
}

// Smooth returns the exponential moving average of the numbers of a series, corrected for the
// beginning as in D. Kingma and J. Ba, "Adam", ICLR 2015: a weight of 0 gives the numbers
// themselves. NaN is left out of the average.
func (s Series) Smooth(weight float64) []float64 {
	out := make([]float64, len(s.Values))
	sum, total := 0.0, 0.0
	for i, v := range s.Values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			sum, total = weight*sum+(1-weight)*v, weight*total+(1-weight)
		}
		out[i] = sum / total
	}
	return out
}
