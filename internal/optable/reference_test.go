package optable

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tenonml/tenon/internal/generated"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// TestReference writes docs/reference/operations.md: of each operation that a Go function calls, what it takes, what
// the table's calls show of element types and shapes, and its gradient.
func TestReference(t *testing.T) {
	exported := exportedFunctions(t)
	of := map[string][]string{} // lines of tables, by package
	for _, r := range Rows() {
		o := r.Definition()
		if o == nil {
			continue
		}
		pkg, name, _ := strings.Cut(o.Func(), ".")
		if !exported[o.Func()] || name == "" || strings.HasSuffix(o.Name, "_grad") {
			continue // a part of other operations, such as a gradient
		}
		of[pkg] = append(of[pkg], fmt.Sprintf("| `%s` | %s | %s | %s | %s | %s | %s |\n", o.Func(), sentence(o.Doc), parameters(o), o.Axes, resultTypes(t, r), exampleShapes(t, r), gradient(o)))
	}
	var b strings.Builder
	b.WriteString(`# Operations

Written by ` + "`go test ./internal/optable -run Reference -update`" + `. Of each operation: its parameters, with the element types and ranks that they take where not all
do; how it goes about axes; the element types and shapes of results, as calls of the tests have them; and the gradient. A result whose
type is "the same" has the element type of the first operand. Operands of different types are promoted, Go numbers take the type of what they meet. What
each does with ragged, masked, sparse, named and structured values is in [coverage.md](../coverage.md); functions that are made of several operations are in
the packages' own documentation.

How operations go about axes: map works element by element on shapes that broadcast; reduce, scan and along work along
axes that are named; contract sums over axes of two operands; select, regroup, move, join, stack, split, insert, broadcast and scatter say where elements go; create makes
elements; opaque says nothing, with a reason in [coverage.md](../coverage.md#operations-that-are-not-described).
`)
	for _, pkg := range slices.Sorted(packagesOf(of)) {
		fmt.Fprintf(&b, "\n## Package %s\n\n| function | what | parameters | axes | elements | shapes | gradient |\n|---|---|---|---|---|---|---|\n", pkg)
		slices.Sort(of[pkg])
		b.WriteString(strings.Join(slices.Compact(of[pkg]), ""))
	}
	generated.File(t, filepath.Join(root, "docs", "reference", "operations.md"), b.String(), "go test ./internal/optable -run Reference -update")
}

const root = "../.."

func packagesOf(m map[string][]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// exportedFunctions are those that packages export, as the files of api say.
func exportedFunctions(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "api", "*.txt"))
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	out := map[string]bool{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		pkg := strings.TrimSuffix(filepath.Base(f), ".txt")
		pkg = pkg[strings.LastIndexByte(pkg, '_')+1:]
		for line := range strings.Lines(string(text)) {
			if rest, ok := strings.CutPrefix(line, "func "); ok && rest[0] != '(' {
				out[pkg+"."+rest[:strings.IndexAny(rest, "([")]] = true
			}
		}
	}
	return out
}

func sentence(doc string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", `\<`).Replace(strings.TrimSuffix(doc, "."))
}

// parameters are those of an operation: tensors with what they take, attributes with their defaults.
func parameters(o *op.Op) string {
	var out []string
	for _, p := range o.Params {
		text := p.Name
		var about []string
		switch p.Kind {
		case op.Tensors:
			text += "…"
		case op.Attr:
			if p.Default != nil {
				text += fmt.Sprintf(" = %v", p.Default)
			}
		}
		if p.Takes != nil {
			about = append(about, p.Takes.Name)
		}
		switch {
		case p.Rank == op.Scalar:
			about = append(about, "scalar")
		case p.Rank == op.Vector:
			about = append(about, "vector")
		case p.Rank > 0:
			about = append(about, fmt.Sprintf("rank %d or more", p.Rank))
		}
		if p.Optional {
			about = append(about, "optional")
		}
		if len(about) > 0 {
			text += " (" + strings.Join(about, ", ") + ")"
		}
		out = append(out, text)
	}
	return sentence(strings.Join(out, "; "))
}

// inferred are the Specs of the operands and results of a call.
func inferred(t *testing.T, r Row, c Call) (operands []*tensor.Spec, out []*tensor.Spec) {
	t.Helper()
	call, err := op.NewCall(r.Definition(), c.Args...)
	if err == nil {
		call, err = promote(call)
	}
	if err != nil {
		t.Fatal(err)
	}
	specs, err := call.Infer()
	if err != nil {
		return nil, nil // a call that the tests want to be refused
	}
	for _, v := range call.Operands() {
		if s, ok := v.Spec().(*tensor.Spec); ok {
			operands = append(operands, s)
		}
	}
	for _, s := range specs {
		if s, ok := s.(*tensor.Spec); ok {
			out = append(out, s)
		}
	}
	return operands, out
}

// resultTypes says which element types the results of the table's calls have.
func resultTypes(t *testing.T, r Row) string {
	var of []map[string]bool // by result
	same := true
	for _, c := range r.Calls {
		operands, out := inferred(t, r, c)
		for i, s := range out {
			if i == len(of) {
				of = append(of, map[string]bool{})
			}
			of[i][s.DType().String()] = true
			same = same && len(operands) > 0 && i == 0 && s.DType() == operands[0].DType()
		}
	}
	if same && len(of) == 1 && len(of[0]) > 1 {
		return "the same"
	}
	var texts []string
	for _, set := range of {
		texts = append(texts, classes(set))
	}
	return strings.Join(slices.Compact(texts), "; ")
}

// classes names sets of element types, the kinds of numbers by one word.
func classes(of map[string]bool) string {
	var out []string
	for _, class := range []struct {
		name  string
		types []string
	}{
		{"floats", []string{"bfloat16", "float16", "float32", "float64"}},
		{"complex", []string{"complex64", "complex128"}},
		{"integers", []string{"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}},
	} {
		n := 0
		for _, d := range class.types {
			if of[d] {
				n++
			}
		}
		if n > 2 || n == len(class.types) {
			out = append(out, class.name)
			for _, d := range class.types {
				delete(of, d)
			}
		}
	}
	rest := make([]string, 0, len(of))
	for d := range of {
		rest = append(rest, d)
	}
	slices.Sort(rest)
	return strings.Join(append(out, rest...), ", ")
}

// exampleShapes is one call of the table that shows what becomes of axes: the first whose first operand has the most, up to three.
func exampleShapes(t *testing.T, r Row) string {
	best, rank := "", -1
	for _, c := range r.Calls {
		operands, out := inferred(t, r, c)
		if len(out) == 0 || len(operands) > 0 && operands[0].Shape().Size() == 0 {
			continue
		}
		n := 0
		var from, to []string
		for i, s := range operands {
			if i == 0 {
				n = s.Shape().Rank()
			}
			from = append(from, s.Shape().String())
		}
		for _, s := range out {
			to = append(to, s.Shape().String())
		}
		if n > rank && n <= 3 && len(from) <= 4 && len(to) <= 4 {
			best, rank = strings.Join(from, ", ")+" → "+strings.Join(to, ", "), n
		}
	}
	return strings.TrimSpace(best)
}

func gradient(o *op.Op) string {
	switch {
	case o.Nondifferentiable:
		return "zero"
	case o.VJP != nil:
		return "yes"
	}
	return "none"
}
