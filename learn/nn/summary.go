package nn

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/learn/internal/parts"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Unlearned is a part of a model whose tensors are not parameters, whatever their type, such as
// the statistics of a scaler. Training does not change them, but files hold them.
type Unlearned interface{ Unlearned() }

// A Summary has a line for each tensor of a model, in the order of package nest.
type Summary []Line

// A Line describes a tensor of a model.
type Line struct {
	Path      string
	Spec      tenon.Spec
	Elements  int    // -1 if sizes are unknown
	Bytes     int    // of elements of a fixed size; -1 if they are unknown
	Parameter bool   // a floating-point tensor that is not part of an [Unlearned]
	Frozen    bool   // a parameter that is not trained, if the trainer's options are known
	Shared    string // the path of the tensor that this one is identical to, or ""
}

// Summarize returns a line for each tensor of a model.
// [github.com/tenonml/tenon/learn/train.Summarize] also tells, from the options of a trainer,
// which parameters are frozen or shared.
func Summarize(model any) (Summary, error) {
	paths, leaves, err := nest.FlattenWithPaths(model, nest.Options{Expand: true})
	if err != nil {
		return nil, err
	}
	out := Summary{}
	for i, l := range leaves {
		spec, _ := l.(tenon.Spec)
		if v, ok := l.(tenon.Value); ok {
			spec = v.Spec()
		}
		t, ok := spec.(*tensor.Spec)
		if !ok {
			continue
		}
		line := Line{Path: paths[i].String(), Spec: spec, Elements: numberOf(t.Shape()), Bytes: -1, Parameter: t.DType().IsFloat()}
		if size := t.DType().Size(); line.Elements >= 0 && size > 0 {
			line.Bytes = line.Elements * size
		}
		out = append(out, line)
	}
	for _, prefix := range parts.Of[Unlearned](model) {
		for i := range out {
			if _, ok := parts.Below(out[i].Path, prefix); ok {
				out[i].Parameter = false
			}
		}
	}
	return out, nil
}

// Elements returns the number of elements of all parameters. Shared parameters count once, unknown
// sizes not at all.
func (s Summary) Elements() int { return s.sum(func(l Line) int { return l.Elements }) }

// Bytes returns the number of bytes of all parameters, counted like Elements.
func (s Summary) Bytes() int { return s.sum(func(l Line) int { return l.Bytes }) }

func (s Summary) sum(of func(Line) int) (n int) {
	for _, l := range s {
		if l.Parameter && l.Shared == "" {
			n += max(0, of(l))
		}
	}
	return n
}

// String prints a table of paths, Specs, elements and bytes, and the totals of the parameters.
func (s Summary) String() string {
	rows := [][4]string{{"path", "type", "elements", "bytes"}}
	for _, l := range s {
		row := [4]string{l.Path, tenon.String(l.Spec), count(l.Elements), count(l.Bytes)}
		switch {
		case l.Shared != "":
			row[1] += ", is " + l.Shared
		case l.Frozen:
			row[1] += ", frozen"
		case !l.Parameter:
			row[1] += ", no parameter"
		}
		rows = append(rows, row)
	}
	rows = append(rows, [4]string{"parameters", "", count(s.Elements()), count(s.Bytes())})
	var wide [4]int
	for _, r := range rows {
		for i, c := range r {
			wide[i] = max(wide[i], utf8.RuneCountInString(c))
		}
	}
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "%-*s  %-*s  %*s  %*s\n", wide[0], r[0], wide[1], r[1], wide[2], r[2], wide[3], r[3])
	}
	return b.String()
}

func count(n int) string {
	if n < 0 {
		return "?"
	}
	return strconv.Itoa(n)
}

// A Start says how to initialize the tensors whose whole path matches a regular expression.
type Start struct {
	Path string
	Init Init
}

// Restart returns a model whose parameters are initialized again by the first start that matches their path, each with
// its own key, which depends on the path only. Parameters that no start matches are unchanged. A start that matches
// nothing is an error, which Restart throws.
//
//	m = nn.Restart(key, m, nn.Start{Path: `.*\.Kernel`, Init: nn.Orthogonal}, nn.Start{Path: `Words\..*`, Init: nn.Normal})
func Restart[M any](key tensor.Tensor, m M, starts ...Start) M {
	const fn = "nn.Restart"
	match, used := make([]*regexp.Regexp, len(starts)), make([]bool, len(starts))
	for i, s := range starts {
		r, err := regexp.Compile("^(?:" + s.Path + ")$")
		if err != nil {
			tenon.Throw(&tenon.Error{Kind: tenon.ErrInvalid, Op: fn, Where: fmt.Sprintf("[%d].Path", i), Err: err})
		}
		match[i] = r
	}
	parameter := map[string]bool{}
	for _, l := range tenon.Must(Summarize(m)) {
		parameter[l.Path] = l.Parameter
	}
	paths, leaves, err := nest.FlattenWithPaths(m, nest.Options{Expand: true})
	tenon.Throw(err)
	for i, l := range leaves {
		path := paths[i].String()
		at := slices.IndexFunc(match, func(r *regexp.Regexp) bool { return r.MatchString(path) })
		t, ok := l.(tensor.Tensor)
		if at < 0 || !ok || !parameter[path] {
			continue
		}
		used[at] = true
		leaves[i] = Initialize(starts[at].Init, ops.RandomFor(key, path), t.DType(), t.Shape().Dims()...)
	}
	if at := slices.Index(used, false); at >= 0 {
		e := &tenon.Error{Kind: tenon.ErrNotFound, Op: fn, Where: fmt.Sprintf("[%d].Path", at), Msg: fmt.Sprintf("no remaining parameter of a %T has a path that matches %q", m, starts[at].Path)}
		e.Hint = "nn.Summarize prints the paths"
		tenon.Throw(e)
	}
	return tenon.Must(nest.Pack(m, leaves, nest.Options{Expand: true}))
}

// numberOf returns the number of elements, or -1.
func numberOf(s shape.Shape) int {
	if !s.IsFull() {
		return -1
	}
	return s.Size()
}
