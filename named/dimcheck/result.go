package dimcheck

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"

	"github.com/tenonml/tenon/internal/dimtext"
)

// A Result is what is known about the tensors of a package, for editors.
type Result struct {
	// Hints are the variables of the package that hold tensors with known dimensions, in source
	// order, once for each assignment.
	Hints []Hint

	exprs map[ast.Expr]*val
}

// A Hint is a variable with the dimensions of the tensor assigned to it.
type Hint struct {
	Name string
	Pos  token.Pos // of the variable
	End  token.Pos // after its name
	Dims string    // "{Batch:8 Seq}"
}

// Dims returns the dimensions of an expression as they are printed, "{Batch:8 Seq}", and false if
// they are not known.
func (r *Result) Dims(e ast.Expr) (string, bool) {
	v := r.exprs[e]
	if !isTensorVal(v) {
		return "", false
	}
	return v.String(), true
}

// Names returns the names of the dimensions of an expression, in the order in which they are
// printed. Each is the import path and name, such as "example.com/gpt.Batch". It returns false if
// they are not known.
func (r *Result) Names(e ast.Expr) ([]string, bool) {
	v := r.exprs[e]
	if !isTensorVal(v) {
		return nil, false
	}
	out := make([]string, len(v.Dims))
	for i, d := range v.Dims {
		out[i] = string(d.Name)
	}
	return out, true
}

func (r *Result) fill(k *packageCheck) {
	r.exprs = map[ast.Expr]*val{}
	for _, f := range k.pass.Files {
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.StructType); ok {
				r.fields(k.pass, s)
			}
			return true
		})
	}
	for e, s := range k.exprs {
		if s.node < 0 {
			continue
		}
		v := k.seen[s]
		if !isTensorVal(v) || v.Attrs != nil && v.Attrs.Handle != "" || !tensorType(k.pass.TypesInfo.TypeOf(e)) {
			continue
		}
		r.exprs[e] = v
		id, ok := e.(*ast.Ident)
		if !ok || k.pass.TypesInfo.Defs[id] == nil && !k.assignedTo(id) {
			continue
		}
		r.Hints = append(r.Hints, Hint{Name: id.Name, Pos: id.Pos(), End: id.End(), Dims: dimtext.Braces(texts(v.Dims))})
	}
	slices.SortFunc(r.Hints, func(a, b Hint) int { return int(a.Pos - b.Pos) })
	r.Hints = slices.Compact(r.Hints)
}

// fields adds the fields of a struct whose tags declare their dimensions, at their declarations.
func (r *Result) fields(pass *analysis.Pass, s *ast.StructType) {
	t, ok := pass.TypesInfo.TypeOf(s).(*types.Struct)
	if !ok {
		return
	}
	at := map[types.Object]int{}
	for i := range t.NumFields() {
		at[t.Field(i)] = i
	}
	for _, f := range s.Fields.List {
		for _, id := range f.Names {
			if i, ok := at[pass.TypesInfo.Defs[id]]; ok {
				if dims, ok := (typeParams{}).fieldDims(t, t, i); ok {
					r.exprs[id] = tensorOf(namesVal(dims).Dims, nil)
				}
			}
		}
	}
}

// tensorType reports whether a type contains a tensor.
func tensorType(t types.Type) bool {
	if t == nil {
		return false
	}
	return isTensor(t) || isSchema(t) || types.IsInterface(t)
}

// assignedTo reports whether an identifier is on the left-hand side of an
// assignment.
func (k *packageCheck) assignedTo(id *ast.Ident) bool { return k.targets[id] }
