package main

import (
	"context"
	"fmt"
	"go/format"
	"io"
	"strings"
	"unicode"

	"github.com/urfave/cli/v3"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/cmd/tenon/internal/formats"
	"github.com/tenonml/tenon/data/arrowio"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/anatomy"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

func specCommand(p *program) *cli.Command {
	return &cli.Command{
		Name: "spec", Usage: "show the types of records", ArgsUsage: "FILE",
		Description: "Prints the types as a datashape, as a Go struct for structured/gostruct (--go), as JSON, or as an Arrow schema. All records are read.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "go", Usage: "as a Go struct"}, &cli.BoolFlag{Name: "json", Usage: "as JSON"}, &cli.BoolFlag{Name: "arrow", Usage: "as an Arrow schema"},
			&cli.StringFlag{Name: "name", Value: "Record", Usage: "`NAME` of the Go struct"}, pathsFlag, outputFlag, inputFlag,
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			file, err := p.argument(c)
			if err != nil {
				return err
			}
			if n := c.String("name"); !token(n) {
				return usage("--name is %q, want an exported Go name", n)
			}
			forms := 0
			for _, name := range []string{"go", "json", "arrow"} {
				if c.Bool(name) {
					forms++
				}
			}
			if forms > 1 {
				return usage("use only one of --go, --json and --arrow")
			}
			text, err := p.spec(ctx, c, file)
			if err != nil {
				return err
			}
			return p.put(c, func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
		},
	}
}

// specJSON is the JSON form of tenon spec.
type specJSON struct {
	Type   string      `json:"type"` // a datashape
	Spec   string      `json:"spec"` // in the syntax of tenon.ParseSpec
	Fields []fieldJSON `json:"fields"`
}

type fieldJSON struct {
	Path string `json:"path"`
	Type string `json:"type"`
}

func (p *program) spec(ctx context.Context, c *cli.Command, file string) (string, error) {
	r, err := p.records(ctx, c, file, formats.Options{})
	if err != nil {
		return "", err
	}
	defer r.close()
	var last *structured.Tensor
	if err := r.each(func(t *structured.Tensor) error { last = t; return nil }); err != nil {
		return "", err
	}
	if last == nil {
		return "", fmt.Errorf("%s has no records, so their types are unknown", file)
	}
	if c.Bool("arrow") {
		b, err := arrowio.ToRecord(last)
		if err != nil {
			return "", err
		}
		var text strings.Builder
		for _, f := range b.Schema().Fields() {
			fmt.Fprintf(&text, "%s: %v", f.Name, f.Type)
			if f.Nullable {
				text.WriteString(" (nullable)")
			}
			text.WriteString("\n")
		}
		return text.String(), nil
	}
	spec := last.Spec()
	if s, ok := spec.(*structured.Spec); ok && s.Rank() > 0 {
		if spec, err = s.Unbatched(); err != nil {
			return "", err
		}
	}
	s, ok := spec.(*structured.Spec)
	switch {
	case c.Bool("go") && ok:
		text, err := format.Source([]byte("type " + c.String("name") + " " + goType(s, 0) + "\n"))
		return string(text), err
	case c.Bool("json") && ok:
		out := specJSON{Type: structured.Datashape(s), Spec: tenon.Text(s)}
		for _, l := range s.Leaves() {
			out.Fields = append(out.Fields, fieldJSON{structured.PathString(l.Path), structured.Datashape(l.Spec)})
		}
		var b strings.Builder
		err := writeJSON(&b, out)
		return b.String(), err
	}
	return structured.Datashape(spec) + "\n", nil
}

// goType returns the Go type whose values structured/gostruct converts to records of this Spec.
func goType(s tenon.Spec, depth int) string {
	a := anatomy.OfSpec(s)
	switch a.Kind {
	case anatomy.Records:
		row, rank := single(s)
		return strings.Repeat("[]", rank) + goStruct(anatomy.OfSpec(row).Fields, depth)
	case anatomy.Lists:
		return strings.Repeat("[]", len(a.Partitions)) + goType(a.Inner, depth)
	case anatomy.Optional:
		inner, lists := goType(a.Inner, depth), 0
		if m, ok := a.Mask.(interface{ Shape() shape.Shape }); ok {
			lists = max(0, m.Shape().Rank())
		}
		prefix := strings.Repeat("[]", lists)
		if rest, ok := strings.CutPrefix(inner, prefix); ok {
			return prefix + "*" + rest
		}
		return "*" + inner
	case anatomy.Map:
		m, ok := s.(*structured.MapSpec)
		if !ok {
			break
		}
		return "map[" + goType(m.Key(), depth) + "]" + goType(m.Value(), depth)
	case anatomy.Words:
		return "string"
	case anatomy.Element:
		return goElement(structured.Datashape(s))
	case anatomy.Leaf:
		t, ok := s.(*tensor.Spec)
		if !ok {
			break
		}
		return strings.Repeat("[]", max(0, t.Shape().Rank())) + goScalar(t.DType())
	}
	return "any // " + strings.ReplaceAll(structured.Datashape(s), "\n", " ")
}

// single returns the Spec of a single record, and the number of dimensions of the records.
func single(s tenon.Spec) (tenon.Spec, int) {
	rank := 0
	for {
		r, ok := s.(*structured.Spec)
		if !ok || r.Rank() == 0 {
			return s, rank
		}
		row, err := r.Unbatched()
		if err != nil {
			return s, rank
		}
		s = row
		rank++
	}
}

func goStruct(fields []tenon.Field, depth int) string {
	var b strings.Builder
	tab := strings.Repeat("\t", depth+1)
	b.WriteString("struct {\n")
	used := map[string]bool{}
	for _, f := range fields {
		name := goName(f.Name)
		for base, i := name, 2; used[name]; i++ {
			name = fmt.Sprintf("%s%d", base, i)
		}
		used[name] = true
		fmt.Fprintf(&b, "%s%s %s `json:%q`\n", tab, name, goType(f.Spec, depth+1), f.Name)
	}
	return b.String() + strings.Repeat("\t", depth) + "}"
}

// goScalar returns the Go type of an element.
func goScalar(d dtype.DType) string {
	switch d {
	case dtype.String:
		return "string"
	case dtype.Float16, dtype.BFloat16:
		return "float32"
	}
	return d.String()
}

// goElement returns the Go type of elements such as times and decimals.
func goElement(typ string) string {
	switch {
	case strings.Contains(typ, "timestamp"), strings.Contains(typ, "date"):
		return "time.Time"
	case strings.Contains(typ, "duration"):
		return "time.Duration"
	}
	return "string // " + typ
}

// goName makes an exported Go name from a field name.
func goName(name string) string {
	var b strings.Builder
	up := true
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			up = true
		case up:
			b.WriteRune(unicode.ToUpper(r))
			up = false
		default:
			b.WriteRune(r)
		}
	}
	out := b.String()
	if out == "" || !unicode.IsUpper([]rune(out)[0]) {
		out = "X" + out
	}
	return out
}

// token reports whether a text is an exported Go name.
func token(s string) bool {
	for i, r := range s {
		if i == 0 && !unicode.IsUpper(r) || !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' {
			return false
		}
	}
	return s != ""
}
