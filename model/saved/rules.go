package saved

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// A Rule gives the name that a place of a tree has in files of other programs, for both writing
// and reading. Of several rules, the first one that matches is used.
//
//	saved.Rules{
//		{Path: `Layers\[(\d+)\]\.Kernel`, Name: "encoder.layer.$1.dense.weight", Transpose: true},
//		{Path: `Layers\[(\d+)\]\.Bias`, Name: "encoder.layer.$1.dense.bias"},
//		{Path: `(.*)`, Name: "model.$1"},
//	}
type Rule struct {
	Path string // a regular expression (package regexp) that must match the whole path
	Name string // the name in the file, with $1 for the first group

	// Transpose swaps the last two axes, for files of programs that store matrices transposed.
	Transpose bool
}

// Rules are tried in order.
type Rules []Rule

// Dotted returns the name that a path has in files of programs that join names by dots, such as
// PyTorch: Layers[0].Kernel becomes Layers.0.Kernel, and a key such as "encoder.layer.0.weight"
// is not changed.
func Dotted(path string) string {
	var b strings.Builder
	for path != "" {
		step, rest := "", ""
		switch {
		case path[0] == '[':
			if q, err := strconv.QuotedPrefix(path[1:]); err == nil {
				step, _ = strconv.Unquote(q)
				rest = strings.TrimPrefix(path[1+len(q):], "]")
			} else {
				step, rest, _ = strings.Cut(path[1:], "]")
			}
		default:
			end := strings.IndexAny(path, ".[")
			if end < 0 {
				end = len(path)
			}
			step, rest = path[:end], path[end:]
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(step)
		path = strings.TrimPrefix(rest, ".")
	}
	return b.String()
}

// naming maps paths to names.
type naming struct {
	rules  Rules
	match  []*regexp.Regexp
	rename func(path string) string
}

func newNaming(fn string, rules Rules, rename func(string) string) (*naming, error) {
	n := &naming{rules: rules, rename: rename}
	for i, r := range rules {
		m, err := regexp.Compile("^(?:" + r.Path + ")$")
		if err != nil {
			return nil, &tenon.Error{Kind: tenon.ErrInvalid, Op: fn, Where: fmt.Sprintf("Rules[%d].Path", i), Err: err}
		}
		n.match = append(n.match, m)
	}
	return n, nil
}

// of returns the name of a path, and the rule that gave it.
func (n *naming) of(path string) (string, Rule) {
	for i, m := range n.match {
		if at := m.FindStringSubmatchIndex(path); at != nil {
			return string(m.ExpandString(nil, n.rules[i].Name, path, at)), n.rules[i]
		}
	}
	if n.rename != nil {
		return n.rename(path), Rule{}
	}
	return path, Rule{}
}

// turned returns a value with its last two axes swapped.
func turned(fn, path string, v tenon.Value) (tenon.Value, error) {
	t, ok := v.(tensor.Tensor)
	if !ok || t.Shape().Rank() < 2 {
		return nil, &tenon.Error{Kind: tenon.ErrShape, Op: fn, Where: path, Msg: fmt.Sprintf("its rule says Transpose, but %s does not have two axes", tenon.String(v.Spec()))}
	}
	return tenon.Try(func() tenon.Value { return ops.SwapAxes(t, -1, -2) })
}
