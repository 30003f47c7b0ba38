package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/cmd/tenon/internal/formats"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

func diffCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "diff", Usage: "show the differences between two files of any formats", ArgsUsage: "A B",
		Description: "Compares columns of records, or tensors by name, one by one. Floating-point numbers may differ by atol + rtol·|b|.\n" +
			"The exit status is 0 if nothing differs and 1 otherwise.",
		Flags: []cli.Flag{
			&cli.FloatFlag{Name: "rtol", Usage: "relative tolerance"}, &cli.FloatFlag{Name: "atol", Usage: "absolute tolerance"},
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print nothing; only set the exit status"}, &cli.BoolFlag{Name: "json", Usage: "write JSON, an object in a line for each difference"}, inputFlag,
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			if c.NArg() != 2 {
				return usage("diff needs two files, not %d", c.NArg())
			}
			if !(c.Float("rtol") >= 0 && c.Float("atol") >= 0) {
				return usage("a tolerance is %v, want 0 or more", min(c.Float("rtol"), c.Float("atol")))
			}
			a, err := p.parts(ctx, c, c.Args().Get(0))
			if err != nil {
				return err
			}
			b, err := p.parts(ctx, c, c.Args().Get(1))
			if err != nil {
				return err
			}
			list, err := differences(a, b, tensor.CloseOptions{RTol: c.Float("rtol"), ATol: c.Float("atol"), NaN: true, Exact: true})
			if err != nil {
				return err
			}
			for _, d := range list {
				switch {
				case c.Bool("quiet"):
				case c.Bool("json"):
					err = writeJSON(p.stdout, d)
				default:
					_, err = fmt.Fprintf(p.stdout, "%s: %s\n", formats.Printable(d.Path), formats.Printable(d.What))
				}
				if err != nil {
					return err
				}
			}
			if len(list) > 0 {
				return errDiffers
			}
			return nil
		},
	}
}

// A difference describes what differs at a path.
type difference struct {
	Path string `json:"path"`
	What string `json:"what"`
}

// A part is a column or a tensor.
type part struct {
	name string
	read func() (tenon.Value, error)
}

// parts returns the columns of a file, or its tensors.
func (p *program) parts(ctx context.Context, c *cli.Command, file string) (out []part, err error) {
	in, err := p.open(c, file)
	if err != nil {
		return nil, err
	}
	if in.Format.Model != nil && in.Format.Rows == nil {
		m, err := formats.OpenModel(in)
		if err != nil {
			return nil, errors.Join(err, in.Close())
		}
		for _, t := range m.Tensors {
			out = append(out, part{t.Name, t.Read})
		}
		return out, nil
	}
	r, err := formats.Records(in, formats.Options{Context: ctx, Uniform: true})
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	defer func() { err = errors.Join(err, r.Close(), in.Close()) }()
	var pieces []*structured.Tensor
	for t, err := range r.Batches(1 << 20) {
		if err != nil {
			return nil, err
		}
		pieces = append(pieces, t)
	}
	if len(pieces) == 0 {
		return nil, nil
	}
	all := pieces[0]
	if len(pieces) > 1 {
		if all, err = structured.Concat(pieces...); err != nil {
			return nil, err
		}
	}
	for _, f := range all.Unzip() {
		out = append(out, part{structured.PathString([]string{f.Name}), func() (tenon.Value, error) { return f.Value, nil }})
	}
	return out, nil
}

// differences compares parts by their names.
func differences(a, b []part, o tensor.CloseOptions) (out []difference, err error) {
	for _, x := range a {
		i := slices.IndexFunc(b, func(y part) bool { return y.name == x.name })
		if i < 0 {
			out = append(out, difference{x.name, "only in the first"})
			continue
		}
		v, err := x.read()
		if err != nil {
			return nil, err
		}
		w, err := b[i].read()
		if err != nil {
			return nil, err
		}
		what, err := unequal(v, w, o)
		if err != nil {
			return nil, err
		}
		if what != "" {
			out = append(out, difference{x.name, what})
		}
	}
	for _, y := range b {
		if !slices.ContainsFunc(a, func(x part) bool { return x.name == y.name }) {
			out = append(out, difference{y.name, "only in the second"})
		}
	}
	return out, nil
}

// unequal describes the difference between two Values, or returns "" if there is none. Values of
// different Specs are compared as they are written, so that a mask without missing elements makes no
// difference.
func unequal(v, w tenon.Value, o tensor.CloseOptions) (string, error) {
	if tenon.Compatible(v.Spec(), w.Spec()) {
		err := tensor.AllClose(v, w, o)
		if err == nil {
			return "", nil
		}
	}
	a, err := formats.AsRecords(v)
	if err != nil {
		return "", err
	}
	b, err := formats.AsRecords(w)
	if err != nil {
		return "", err
	}
	m, n := formats.RowCount(a), formats.RowCount(b)
	if m != n {
		return fmt.Sprintf("%d rows in the first, %d in the second", m, n), nil
	}
	_, x, err := formats.Cells(a, formats.WriteOptions{})
	if err != nil {
		return "", err
	}
	_, y, err := formats.Cells(b, formats.WriteOptions{})
	if err != nil {
		return "", err
	}
	many, first := 0, -1
	for i := range x {
		if !slices.EqualFunc(x[i], y[i], func(s, t string) bool { return near(s, t, o) }) {
			if many++; first < 0 {
				first = i
			}
		}
	}
	if many == 0 {
		return "", nil
	}
	const most = 60
	return fmt.Sprintf("%d of %d rows differ, the first is row %d: %s and %s", many, n, first,
		formats.Cut(fmt.Sprint(x[first]), most), formats.Cut(fmt.Sprint(y[first]), most)), nil
}

// near compares two JSON texts, with a tolerance for numbers in them.
func near(a, b string, o tensor.CloseOptions) bool {
	if a == b {
		return true
	}
	for {
		x, y := numberAt(a), numberAt(b)
		if x < 0 || y < 0 {
			return x == y && a == b
		}
		if a[:x] != b[:y] {
			return false
		}
		n, m := numberEnd(a, x), numberEnd(b, y)
		f, err1 := strconv.ParseFloat(a[x:n], 64)
		g, err2 := strconv.ParseFloat(b[y:m], 64)
		if err1 != nil || err2 != nil {
			if a[x:n] != b[y:m] {
				return false
			}
		} else if f != g && !(math.Abs(f-g) <= o.ATol+o.RTol*math.Abs(g)) {
			return false
		}
		a, b = a[n:], b[m:]
	}
}

// numberAt returns the offset of the first number of a JSON text outside of strings, or -1.
func numberAt(s string) int {
	text := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case text && c == '\\':
			i++
		case c == '"':
			text = !text
		case !text && (c == '-' || c >= '0' && c <= '9'):
			return i
		}
	}
	return -1
}

func numberEnd(s string, i int) int {
	for i < len(s) && strings.IndexByte("+-.eE0123456789", s[i]) >= 0 {
		i++
	}
	return i
}
