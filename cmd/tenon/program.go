package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v3"
	"golang.org/x/term"

	"github.com/tenonml/tenon/cmd/tenon/internal/formats"
	"github.com/tenonml/tenon/internal/input"
	"github.com/tenonml/tenon/internal/summary"
	"github.com/tenonml/tenon/structured"
)

// A program says where a command reads and writes.
type program struct {
	stdin          io.Reader
	stdout, stderr io.Writer

	width    int  // of the terminal that is written to; 0: not a terminal
	colour   bool // on standard output
	progress bool // standard error is a terminal
}

func newProgram() *program {
	p := &program{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, progress: term.IsTerminal(int(os.Stderr.Fd()))}
	if fd := int(os.Stdout.Fd()); term.IsTerminal(fd) {
		p.width = 80
		if w, _, err := term.GetSize(fd); err == nil && w > 0 {
			p.width = w
		}
		p.colour = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	}
	return p
}

// The formats that can be written, for help texts.
var writtenNames, writtenSuffixes = formats.Written()

var (
	inputFlag   = &cli.StringFlag{Name: "input", Aliases: []string{"i"}, Usage: "read as `FORMAT` instead of detecting the format"}
	formatFlag  = &cli.StringFlag{Name: "format", Aliases: []string{"f"}, Usage: "write as `FORMAT`: " + writtenNames, DefaultText: "table on a terminal, else jsonl"}
	jsonFlag    = &cli.BoolFlag{Name: "json", Usage: "write JSON (-f json)"}
	outputFlag  = &cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "write to `FILE`, in the format of its name; - is standard output"}
	pathsFlag   = &cli.StringFlag{Name: "paths", Aliases: []string{"p"}, Usage: "only the fields at `PATHS`, such as id,jets.pt"}
	whereFlag   = &cli.StringFlag{Name: "where", Aliases: []string{"w"}, Usage: "only records that satisfy `CONDITION`, such as '@.id > 3'"}
	noPagerFlag = &cli.BoolFlag{Name: "no-pager", Usage: "do not use a pager"}
)

// batchRows is the number of records that are processed at a time.
const batchRows = 1 << 15

// open opens a file and detects its format, unless that is given.
func (p *program) open(c *cli.Command, name string) (*formats.Input, error) {
	var format *formats.Format
	if text := c.String("input"); text != "" {
		f, err := formats.Named(text)
		if err != nil {
			return nil, usage("-i: %w", err)
		}
		if f.Rows == nil && f.Model == nil {
			return nil, usage("-i: %s can be written but not read", text)
		}
		format = f
	}
	return formats.Open(name, p.stdin, format)
}

// argument returns the only argument of a command. Without one it returns that of standard input,
// unless that is a terminal.
func (p *program) argument(c *cli.Command) (string, error) {
	switch c.NArg() {
	case 1:
		return c.Args().First(), nil
	case 0:
		if f, ok := p.stdin.(*os.File); ok && !term.IsTerminal(int(f.Fd())) && piped(f) {
			return "-", nil
		}
		return "", usage("%s needs a file; - is standard input", c.Name)
	}
	return "", usage("%s takes one file, but %q follows", c.Name, c.Args().Get(1))
}

// piped reports whether data can come from standard input.
func piped(f *os.File) bool {
	st, err := f.Stat()
	return err == nil && (st.Mode()&os.ModeNamedPipe != 0 || st.Mode().IsRegular())
}

// records are the records of a file that a command's flags select.
type records struct {
	in    *formats.Input
	rows  *formats.Rows
	where string
	paths []string
	meter *meter
	ctx   context.Context
}

// records opens a file as records.
func (p *program) records(ctx context.Context, c *cli.Command, name string, o formats.Options) (*records, error) {
	in, err := p.open(c, name)
	if err != nil {
		return nil, err
	}
	r := &records{in: in, where: c.String("where"), ctx: ctx, meter: p.newMeter()}
	if text := c.String("paths"); text != "" {
		if r.paths, err = splitPaths(text); err != nil {
			return nil, errors.Join(err, in.Close())
		}
	}
	if r.where != "" {
		o.First, o.Last = 0, 0
	} else if o.Columns == nil && !strings.Contains(c.String("paths"), "[") {
		o.Columns = r.paths
	}
	if len(o.Columns) == 0 {
		o.Columns = nil
	}
	o.Context, o.Progress = ctx, r.meter.bytes
	if r.rows, err = formats.Records(in, o); err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return r, nil
}

// splitPaths splits at commas outside of brackets.
func splitPaths(text string) ([]string, error) {
	var out []string
	depth, from := 0, 0
	var quote rune
	for i, r := range text + "," {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '\'' || r == '"':
			quote = r
		case r == '[' || r == '(':
			depth++
		case r == ']' || r == ')':
			depth--
		case r == ',' && depth == 0:
			path := strings.TrimSpace(text[from:i])
			if path == "" {
				return nil, usage("-p: %q contains an empty path", text)
			}
			out = append(out, path)
			from = i + 1
		}
	}
	if from <= len(text) {
		return nil, usage("-p: %q ends within quotes or brackets", text)
	}
	return out, nil
}

// each calls f for the records in batches, until it returns an error. errEnough ends the iteration
// without an error.
func (r *records) each(f func(t *structured.Tensor) error) (err error) {
	defer r.meter.stop()
	for t, err := range r.rows.Batches(batchRows) {
		if err == nil {
			t, err = r.choose(t)
		}
		if err == nil {
			r.meter.add(formats.RowCount(t))
			err = f(t)
		}
		if err == errEnough {
			return nil
		}
		if err != nil {
			return err
		}
		if r.ctx.Err() != nil {
			return context.Cause(r.ctx)
		}
	}
	return nil
}

// errEnough ends reading.
var errEnough = errors.New("enough")

func (r *records) choose(t *structured.Tensor) (out *structured.Tensor, err error) {
	return filtered(t, r.where, r.paths)
}

func (r *records) close() error { return errors.Join(r.rows.Close(), r.in.Close()) }

// write passes a RowWriter to f. It writes to the file given by -o, which is replaced when
// everything has been written, or to standard output.
func (p *program) write(ctx context.Context, c *cli.Command, title string, f func(w formats.RowWriter) error) error {
	format, err := p.outputFormat(c)
	if err != nil {
		return err
	}
	o := formats.WriteOptions{Context: ctx, Title: title}
	to := func(w io.Writer) error {
		x, err := format.Create(w, o)
		if err != nil {
			return err
		}
		if err := f(x); err != nil {
			return err
		}
		return x.Close()
	}
	if name := outputFile(c); name != "" {
		return input.WriteFile(name, to)
	}
	if format.Name == "table" {
		o.Width, o.Colour = p.width, p.colour
	}
	w, end := p.page(c)
	b := bufio.NewWriterSize(w, 1<<16)
	err = to(b)
	if e := b.Flush(); err == nil { // readable records are shown before the error
		err = e
	}
	if e := end(); err == nil {
		err = e
	}
	return err
}

// outputFile returns the file given by -o, or "" for standard output.
func outputFile(c *cli.Command) string {
	if name := c.String("output"); name != "-" {
		return name
	}
	return ""
}

// put calls f to write to the file given by -o, which is replaced when everything has been
// written, or to standard output.
func (p *program) put(c *cli.Command, f func(w io.Writer) error) error {
	if name := outputFile(c); name != "" {
		return input.WriteFile(name, f)
	}
	return f(p.stdout)
}

// outputFormat returns the format that the flags ask for.
func (p *program) outputFormat(c *cli.Command) (*formats.Format, error) {
	name := c.String("format")
	switch {
	case c.Bool("json") && name != "" && name != "json":
		return nil, usage("--json and -f %s ask for different formats", name)
	case c.Bool("json"):
		name = "json"
	case name == "" && outputFile(c) != "":
		f := formats.OfName(c.String("output"))
		if f == nil || f.Create == nil {
			return nil, usage("cannot tell the format from the name %q; set it with -f", c.String("output"))
		}
		return f, nil
	case name == "" && p.width > 0:
		name = "table"
	case name == "":
		name = c.Metadata["plain"].(string)
	}
	f, err := formats.Named(name)
	if err != nil {
		return nil, usage("-f: %w", err)
	}
	if f.Create == nil {
		return nil, usage("-f: records cannot be written as %s", name)
	}
	return f, nil
}

// page returns where a command writes: to a pager, on a terminal if there is one. end waits for it.
func (p *program) page(c *cli.Command) (w io.Writer, end func() error) {
	none := func() error { return nil }
	if p.width == 0 || c.Bool("no-pager") {
		return p.stdout, none
	}
	line := os.Getenv("TENON_PAGER")
	if line == "" {
		line = os.Getenv("PAGER")
	}
	if line == "" {
		line = "less -FRSX"
	}
	words := strings.Fields(line)
	if len(words) == 0 || words[0] == "cat" {
		return p.stdout, none
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	pipe, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return p.stdout, none
	}
	return pipe, func() error {
		pipe.Close()
		err := cmd.Wait()
		if exit := new(exec.ExitError); errors.As(err, &exit) {
			return nil // the pager's exit status does not matter
		}
		return err
	}
}

// A meter shows the progress of a command, after half a second.
type meter struct {
	mu          sync.Mutex
	w           io.Writer // nil: shows nothing
	rows        int64
	done, total int64
	timer       *time.Timer
	shown       bool
}

// How often, and after what time, progress is shown.
const meterEvery = 500 * time.Millisecond

func (p *program) newMeter() *meter {
	m := &meter{total: -1}
	if p.progress {
		m.w = p.stderr
		m.timer = time.AfterFunc(meterEvery, m.show)
	}
	return m
}

func (m *meter) add(rows int) {
	m.mu.Lock()
	m.rows += int64(rows)
	m.mu.Unlock()
}

func (m *meter) bytes(done, total int64) {
	m.mu.Lock()
	m.done, m.total = done, total
	m.mu.Unlock()
}

func (m *meter) show() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.w == nil {
		return
	}
	text := fmt.Sprintf("%d records", m.rows)
	if m.done > 0 {
		text += ", " + summary.Bytes(m.done)
	}
	if m.total > 0 {
		text += fmt.Sprintf(" (%d %%)", 100*m.done/m.total)
	}
	fmt.Fprint(m.w, "\r\x1b[K"+text)
	m.shown = true
	m.timer.Reset(meterEvery)
}

func (m *meter) stop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.timer != nil {
		m.timer.Stop()
	}
	if m.shown && m.w != nil {
		fmt.Fprint(m.w, "\r\x1b[K")
	}
	m.w = nil
}
