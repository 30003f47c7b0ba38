package serve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/internal/rowwise"
	"github.com/tenonml/tenon/model/saved"
)

// A Policy says which of the versions that a folder has are served, as TensorFlow
// Serving's policies do.
type Policy struct {
	Latest   int      // so many of the newest; 0: the newest one, unless one of the others is set
	All      bool     // all
	Specific []uint64 // these
}

// A Folder is where models come from: a model as package saved keeps it, in a folder or a
// ZIP, which is version 1; or a folder with such models under the numbers of their versions.
type Folder struct {
	Name   string // of the model; default: that of the folder or file without its ending
	Path   string
	Policy Policy
	Labels map[string]uint64 // versions by further names
	Poll   time.Duration     // how often to look for other versions; 0: when asked to load

	// Fetch brings the files here from somewhere else, such as a registry, and returns their path; nil: they are at
	// Path, which is only a name otherwise. It is called whenever versions are looked for.
	Fetch func(ctx context.Context) (path string, err error)
}

// A source is a folder that models were loaded from.
type source struct {
	Folder
	ctx    context.Context // of fetching
	name   string
	mu     sync.Mutex             // held while it is loaded
	loaded map[uint64]*savedModel // by version
}

// A savedModel is one version as it was loaded.
type savedModel struct {
	model *saved.Model
	stamp string // of its files
}

// AddFolder serves the models of a folder under its name; those of several functions also
// as NAME.FUNCTION, where NAME alone is the function called serve, or predict, or the first one.
// Versions that come or go later are taken up by polling, or when the repository's call
// load asks for it: a new version is loaded completely before calls go to it, and a version
// that goes away finishes the calls that it has. Functions that answer each row by itself are
// batched. What cannot be loaded, or fails for its warm-up inputs, leaves everything as it
// was.
func (s *Server) AddFolder(ctx context.Context, f Folder) error {
	name := f.Name
	if name == "" {
		name = strings.TrimSuffix(filepath.Base(filepath.Clean(f.Path)), ".zip")
	}
	from := &source{Folder: f, ctx: ctx, name: name}
	if err := s.refresh(from, false); err != nil {
		return err
	}
	s.mu.Lock()
	s.sources[name] = from
	s.mu.Unlock()
	if f.Poll > 0 {
		go s.poll(ctx, from)
	}
	return nil
}

// poll looks for other versions from time to time.
func (s *Server) poll(ctx context.Context, from *source) {
	t := time.NewTicker(from.Poll)
	defer t.Stop()
	last := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.ending:
			return
		case <-t.C:
		}
		err := s.refresh(from, false)
		if err == nil {
			last = ""
		} else if text := err.Error(); text != last { // once for each reason
			last = text
			s.log.Warn("a model was not loaded; what was served before still is", "model", from.name, "error", explained(err))
		}
	}
}

// versionsAt returns the paths of the versions in a folder.
func versionsAt(path string) (map[uint64]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return map[uint64]string{1: path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	out := map[uint64]string{}
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".zip")
		n, err := strconv.ParseUint(name, 10, 63)
		if err == nil && name == strconv.FormatUint(n, 10) {
			out[n] = filepath.Join(path, e.Name())
		}
	}
	if len(out) == 0 {
		out[1] = path
	}
	return out, nil
}

// chosen returns the versions that a policy serves, the oldest first.
func (p Policy) chosen(all map[uint64]string) ([]uint64, error) {
	var out []uint64
	for n := range all {
		if len(p.Specific) == 0 || slices.Contains(p.Specific, n) {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	for _, n := range p.Specific {
		if _, ok := all[n]; !ok {
			return nil, fmt.Errorf("there is no version %d", n)
		}
	}
	if p.All || len(p.Specific) > 0 && p.Latest == 0 {
		return out, nil
	}
	return out[max(0, len(out)-max(p.Latest, 1)):], nil
}

// stampOf tells one state of the files of a model from another.
func stampOf(path string) (string, error) {
	var b strings.Builder
	err := filepath.WalkDir(path, func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if !d.IsDir() {
			fmt.Fprintf(&b, "%s %d %d\n", p, info.Size(), info.ModTime().UnixNano())
		}
		return nil
	})
	return b.String(), err
}

// refresh loads what is new in a source. again also loads what it has already.
func (s *Server) refresh(from *source, again bool) (err error) {
	defer func() {
		if err != nil {
			var e *tenon.Error
			if !errors.As(err, &e) {
				err = &tenon.Error{Kind: tenon.ErrInvalid, Op: "serve.AddFolder", Where: from.Path, Err: err}
			}
		}
	}()
	from.mu.Lock()
	defer from.mu.Unlock()
	path := from.Path
	if from.Fetch != nil {
		if path, err = from.Fetch(from.ctx); err != nil {
			return err
		}
	}
	all, err := versionsAt(path)
	if err != nil {
		return err
	}
	chosen, err := from.Policy.chosen(all)
	if err != nil {
		return err
	}
	loaded := map[uint64]*savedModel{}
	models := map[string]*model{}
	changed := again || len(chosen) != len(from.loaded)
	for _, n := range chosen {
		stamp, err := stampOf(all[n])
		if err != nil {
			return err
		}
		had, ok := from.loaded[n]
		if !ok || again || had.stamp != stamp {
			m, err := saved.OpenModel(all[n])
			if err != nil {
				return err
			}
			if err := m.WarmUp(); err != nil {
				return err
			}
			had, changed = &savedModel{m, stamp}, true
		}
		loaded[n] = had
	}
	if !changed {
		return nil
	}
	for _, n := range chosen {
		list, err := modelFuncs(from.name, loaded[n].model)
		if err != nil {
			return err
		}
		for _, f := range list {
			f.Version = strconv.FormatUint(n, 10)
			if err := f.check(); err != nil {
				return err
			}
			old, err := s.model(f.Name, f.Version)
			if err == nil && from.loaded[n] == loaded[n] {
				models[f.Name] = models[f.Name].with(old) // it goes on with its queue
				continue
			}
			s.batch(&f)
			x := newServed(f)
			if err == nil {
				x.counts = old.counts
			}
			models[f.Name] = models[f.Name].with(x)
		}
	}
	labels := map[string]string{}
	for l, n := range from.Labels {
		labels[l] = strconv.FormatUint(n, 10)
	}
	for _, m := range models {
		m.labels, m.from = labels, from
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range models {
		if had, ok := s.models[name]; ok && had.from != from && (had.from == nil || had.from.name != from.name) {
			return fmt.Errorf("the name %s is taken already", name)
		}
	}
	for _, set := range []map[string]*model{s.models, s.kept} {
		for name, m := range set {
			if m.from == from {
				delete(set, name)
			}
		}
	}
	for name, m := range models {
		s.models[name] = m
	}
	from.loaded = loaded
	return nil
}

// modelFuncs returns the functions of a saved model, by their first variants. The
// arguments of a function are called by their paths, without brackets: x0, x1 where they have
// no names.
func modelFuncs(name string, m *saved.Model) ([]Func, error) {
	var out []Func
	list := m.Functions()
	main := 0
	for i, f := range list {
		if f.Name() == "predict" && list[main].Name() != "serve" || f.Name() == "serve" {
			main = i
		}
	}
	for i, f := range list {
		fn, err := savedFunc(f)
		if err != nil {
			return nil, err
		}
		if i == main {
			fn.Name = name
			out = append(out, fn)
		}
		if len(list) > 1 {
			fn.Name = name + "." + f.Name()
			out = append(out, fn)
		}
	}
	return out, nil
}

// savedFunc returns the first variant of a function of a saved model.
func savedFunc(f *saved.Func) (Func, error) {
	fn := Func{Name: f.Name(), Doc: f.Doc()}
	axes := f.BatchAxes(0)
	var err error
	if fn.Args, err = leavesOf(f, f.Args(0), "takes", "x", "", axes); err != nil {
		return fn, err
	}
	if fn.Results, err = leavesOf(f, f.Results(0), "returns", "y", "→", axes); err != nil {
		return fn, err
	}
	all := slices.Concat(fn.Args, fn.Results)
	fn.said = len(axes) > 0 && len(axes) == len(all) && !slices.ContainsFunc(all, func(a Arg) bool { return !a.hasRows() })
	found := rowwise.Of(f.Graph(0), rowsAlong(fn.Args), rowsAlong(fn.Results))
	fn.found = &found
	warm, err := f.WarmUps(0)
	if err != nil {
		return fn, err
	}
	fn.warmed = len(warm) > 0
	fn.Call = func(_ context.Context, args []tenon.Value) ([]tenon.Value, error) { return f.CallFlat(args) }
	return fn, nil
}

// leavesOf returns arguments or results, of places that begin with a mark, with the axes that the model says calls may be
// joined along.
func leavesOf(f *saved.Func, leaves []function.Leaf, does, prefix, mark string, axes map[string]int) ([]Arg, error) {
	var out []Arg
	for _, l := range leaves {
		if l.Spec == nil {
			return nil, tenon.NewError(tenon.ErrUnsupported, "serve.AddModel", f.Name()+" "+does+" plain data")
		}
		place := mark + l.Path.String()
		a := Arg{Name: argName(prefix, l.Path[0], l.Path[1:].String()), Spec: l.Spec, Axis: axes[place]}
		if err := a.check(); err != nil {
			e := tenon.NewError(tenon.ErrUnsupported, "serve.AddModel", f.Name()+": "+err.Error())
			e.Where = place
			e.Hint = "let SetBatch name the size of its first axis, or take it back with SetBatch(\"\"), and calls run one by one"
			return nil, e
		}
		out = append(out, a)
	}
	return out, nil
}

func rowsAlong(list []Arg) []rowwise.Arg {
	out := make([]rowwise.Arg, len(list))
	for i, a := range list {
		out[i] = rowwise.Arg{Spec: a.Spec, Axis: a.Axis}
	}
	return out
}

// batch says of a function of a saved model whether it is batched: the statements of its
// operations tell that each row is answered by itself, and made-up rows are answered alike
// together and apart, bit for bit; or the model says so, and the statements do not tell that it
// is wrong. Either way the function has run when this returns, so that nobody waits for its
// first run: for its warm-up inputs, or for made-up rows, but not so where it changes variables.
func (s *Server) batch(f *Func) {
	by := f.found.By
	switch {
	case f.said && !f.found.Mixes:
		f.Batched = true
	case f.said:
		s.log.Warn("calls are not batched, though the model says that its rows are independent", "function", f.Name, "because of", by)
	case f.found.Rows && f.Independent(context.Background()):
		f.Batched = true
		return // it has run
	default:
		if f.found.Rows {
			by = "made-up rows, which it refuses, or answers with other bits when they are joined; SetBatch says so where they tell nothing"
		}
		s.log.Info("calls are not batched", "function", f.Name, "because of", by)
	}
	if !f.found.Assigns && !f.warmed {
		newServed(*f).warm(context.Background())
	}
}

// AddModel serves the functions of a saved model by their names, when they have run for the
// model's warm-up inputs. Those that answer each row by itself are batched.
func (s *Server) AddModel(m *saved.Model) error {
	if err := m.WarmUp(); err != nil {
		return err
	}
	for _, f := range m.Functions() {
		fn, err := savedFunc(f)
		if err != nil {
			return err
		}
		s.batch(&fn)
		if err := s.Add(fn); err != nil {
			return err
		}
	}
	return nil
}
