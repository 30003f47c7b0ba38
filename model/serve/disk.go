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

// A Policy says which of the versions in a folder are served, like TensorFlow Serving's
// policies.
type Policy struct {
	Latest   int      // so many of the newest; 0: the newest one, unless All or Specific is set
	All      bool     // all versions
	Specific []uint64 // these versions
}

// A Folder is a source of models: a model saved by package saved, in a folder or a ZIP file,
// which is version 1; or a folder with such models, named by the numbers of their versions.
type Folder struct {
	Name   string // of the model; default: the name of the folder or file without its extension
	Path   string
	Policy Policy
	Labels map[string]uint64 // further names of versions
	Poll   time.Duration     // how often to look for other versions; 0: only when asked to load

	// Fetch, if it is not nil, fetches the files from somewhere else, such as a registry, and returns their path;
	// Path is then only a name. It is called whenever the server looks for versions.
	Fetch func(ctx context.Context) (path string, err error)
}

// A source is a folder from which models were loaded.
type source struct {
	Folder
	ctx    context.Context // for fetching
	name   string
	mu     sync.Mutex             // held during loading
	loaded map[uint64]*savedModel // by version
}

// A savedModel is one version as it was loaded.
type savedModel struct {
	model *saved.Model
	stamp string // identifies the state of its files
}

// AddFolder serves the models of a folder under its name. If a model has several functions, each
// is also served as NAME.FUNCTION, and NAME alone is the function called serve, or predict, or
// the first one. Versions that appear or disappear later are noticed by polling, or when the
// repository is asked to load the model. A new version is loaded completely before it gets
// calls, and a version that disappears completes its calls. Functions that compute each row
// independently are batched. If a version cannot be loaded, or fails for its warm-up inputs,
// nothing changes.
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

// poll periodically looks for other versions.
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
		} else if text := err.Error(); text != last { // each reason is logged once
			last = text
			s.log.Warn("a model was not loaded; the previous versions are still served", "model", from.name, "error", explained(err))
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

// stampOf returns a text that identifies the state of a model's files.
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

// refresh loads new versions of a source, or all versions if again is true.
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
				models[f.Name] = models[f.Name].with(old) // it keeps its queue
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
			return fmt.Errorf("the name %s is already taken", name)
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

// modelFuncs returns the functions of a saved model, in their first variants. The arguments of
// a function are named by their paths without brackets; without names they are x0, x1 and so
// on.
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

// leavesOf returns arguments or results, whose places begin with mark, with the axes along which the model says that
// calls may be joined.
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
			e.Hint = "let SetBatch name the size of its first axis, or call SetBatch(\"\") to run calls one by one"
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

// batch decides whether a function of a saved model is batched. It is if the statements of its
// operations tell that each row is computed independently, and made-up rows give the same bits
// together and apart; or if the model says so, and the statements do not contradict it. The
// function has run when batch returns, for its warm-up inputs or for made-up rows, so that the
// first call is not delayed; but not if it assigns to variables.
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
			by = "made-up rows, which it rejects, or for which it gives other bits when they are joined; if rows are independent all the same, call SetBatch"
		}
		s.log.Info("calls are not batched", "function", f.Name, "because of", by)
	}
	if !f.found.Assigns && !f.warmed {
		newServed(*f).warm(context.Background())
	}
}

// AddModel serves the functions of a saved model under their names, after running them for the
// model's warm-up inputs. Functions that compute each row independently are batched.
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
