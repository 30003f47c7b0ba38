package runs

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/input"
	"github.com/tenonml/tenon/internal/source"
)

// The names of the files of a record.
const (
	infoFile   = "run.json"
	eventsFile = "events.jsonl"
)

// Version is the version of the format of records. Readers support all versions up to their
// own.
const Version = 1

// Info describes a run. [Create] fills in what is left out, as far as it is known.
type Info struct {
	Version int       `json:"version"`
	Name    string    `json:"name"` // the name of the folder by default
	Started time.Time `json:"started"`

	Host   string   `json:"host,omitempty"`
	Go     string   `json:"go,omitempty"`     // the version of Go, and the system
	Commit string   `json:"commit,omitempty"` // from which the program was built
	Dirty  bool     `json:"dirty,omitempty"`  // the program was built with uncommitted changes
	Args   []string `json:"args,omitempty"`   // the command line

	Seed       uint64 `json:"seed"`
	Parameters int64  `json:"parameters,omitempty"` // trained elements

	// Settings is anything that encoding/json writes. [Differences] compares its parts.
	Settings any `json:"settings,omitempty"`

	// Notes is free text.
	Notes string `json:"notes,omitempty"`
}

// flushEvery limits how long events wait to be written.
const flushEvery = time.Second

// A Writer writes a record. It is not safe for concurrent use.
type Writer struct {
	dir     string
	file    *os.File
	b       *bufio.Writer
	flushed time.Time
	err     error
}

// Create starts a record in a folder, which it makes if necessary. If the folder already holds
// a record, that is an error: [Resume] continues a record.
func Create(dir string, i Info) (*Writer, error) {
	const fn = "runs.Create"
	if _, err := os.Stat(filepath.Join(dir, infoFile)); err == nil {
		e := fail(fn, dir, errors.New("the folder already has the record of a run"))
		e.Hint = "use a separate folder for each run, or remove this one"
		return nil, e
	}
	i.complete(dir)
	b, err := json.MarshalIndent(i, "", "  ")
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err == nil {
		err = input.WriteFile(filepath.Join(dir, infoFile), func(w io.Writer) error { _, err := w.Write(append(b, '\n')); return err })
	}
	if err != nil {
		return nil, fail(fn, dir, err)
	}
	return open(fn, dir, os.O_TRUNC)
}

// Resume continues the record in a folder after a step: later events are replaced by new ones.
// If there is no record, Resume is [Create].
func Resume(dir string, step int, i Info) (*Writer, error) {
	const fn = "runs.Resume"
	if _, err := os.Stat(filepath.Join(dir, infoFile)); errors.Is(err, os.ErrNotExist) {
		return Create(dir, i)
	}
	w, err := open(fn, dir, os.O_APPEND)
	if err != nil {
		return nil, err
	}
	if err := w.put(form{Resume: &step}); err != nil {
		return nil, errors.Join(err, w.file.Close())
	}
	return w, nil
}

func open(fn, dir string, how int) (*Writer, error) {
	f, err := os.OpenFile(filepath.Join(dir, eventsFile), os.O_CREATE|os.O_WRONLY|how, 0o644)
	if err != nil {
		return nil, fail(fn, dir, err)
	}
	return &Writer{dir: dir, file: f, b: bufio.NewWriter(f), flushed: time.Now()}, nil
}

// complete fills in what is left out.
func (i *Info) complete(dir string) {
	i.Version = Version
	if i.Name == "" {
		if abs, err := filepath.Abs(dir); err == nil {
			i.Name = filepath.Base(abs)
		}
	}
	if i.Started.IsZero() {
		i.Started = time.Now()
	}
	if i.Host == "" {
		i.Host, _ = os.Hostname()
	}
	if i.Go == "" {
		i.Go = runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
	}
	if i.Args == nil {
		i.Args = os.Args
	}
	if info, ok := debug.ReadBuildInfo(); ok && i.Commit == "" {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				i.Commit = s.Value
			case "vcs.modified":
				i.Dirty = s.Value == "true"
			}
		}
	}
}

// Add appends an event. It is written to the file within a second if further events follow, and
// at the latest by [Writer.Close].
func (w *Writer) Add(e Event) error {
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	return w.put(e)
}

func (w *Writer) put(line any) error {
	if w.err != nil {
		return w.err
	}
	b, err := json.Marshal(line)
	if err == nil {
		_, err = w.b.Write(append(b, '\n'))
	}
	if now := time.Now(); err == nil && now.Sub(w.flushed) >= flushEvery {
		w.flushed = now
		err = w.b.Flush()
	}
	if err != nil {
		w.err = fail("runs.Writer.Add", w.dir, err)
	}
	return w.err
}

// Close ends the record. reason says why the run ended, such as "finished".
func (w *Writer) Close(reason string) error {
	const fn = "runs.Writer.Close"
	err := w.put(form{End: strings.ToValidUTF8(reason, "�")})
	if err == nil {
		err = w.b.Flush()
	}
	if err = errors.Join(err, w.file.Close()); err != nil {
		err = fail(fn, w.dir, err)
	}
	w.err = fail("runs.Writer.Add", w.dir, errors.New("the record is closed"))
	return err
}

func fail(fn, where string, err error) *tenon.Error {
	if e, ok := err.(*tenon.Error); ok {
		return e
	}
	kind := tenon.ErrInvalid
	if errors.Is(err, fs.ErrNotExist) {
		kind = tenon.ErrNotFound
	}
	return &tenon.Error{Kind: kind, Op: fn, Where: where, Err: err, Line: source.Line()}
}
