package stated

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what the statements say")

const functionsFile = "../../functions.go"

// declared returns the exported functions of a folder by name, methods as "Receiver.Name".
func declared(t *testing.T, folder, but string) map[string]*ast.FuncDecl {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*ast.FuncDecl{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") || filepath.Base(path) == but {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !fn.Name.IsExported() {
				continue
			}
			name := fn.Name.Name
			if fn.Recv != nil {
				recv := types.ExprString(fn.Recv.List[0].Type)
				name = strings.TrimSuffix(recv, "[N]") + "." + name
			}
			out[name] = fn
		}
	}
	return out
}

// A spelling is a function of package ops along axes as functions of package named have it.
type spelling struct {
	name         string
	params, args string // of what follows the tensor, without the axes
	call         string // of package ops
	several      bool   // it takes any number of axes
}

// spellingOf returns how a function of one tensor along axes is spelt.
func spellingOf(name string, fn *ast.FuncDecl) (s spelling, ok bool) {
	s.name = name
	var params, args, call []string
	for _, f := range fn.Type.Params.List {
		for _, n := range f.Names {
			typ := types.ExprString(f.Type)
			switch {
			case n.Name == "axis", n.Name == "axes":
				ok, s.several = true, n.Name == "axes"
				call = append(call, map[bool]string{true: "axes...", false: "axis"}[s.several])
				continue
			case token.IsExported(typ):
				typ = "ops." + typ
			}
			call = append(call, n.Name)
			if n.Name != "x" {
				params, args = append(params, n.Name+" "+typ), append(args, n.Name)
			}
		}
	}
	s.params, s.args = strings.Join(params, ", "), strings.Join(args, ", ")
	s.call = fmt.Sprintf("ops.%s(%s)", name, strings.Join(call, ", "))
	return s, ok && fn.Type.Results.NumFields() == 1
}

// pairs are the elementwise functions of two tensors that this package has; Map2 calls the others.
var pairs = []string{"Add", "Sub", "Mul", "Div", "Pow", "Maximum", "Minimum", "SquaredDifference"}

// handled are the methods of lists of names that handles have as well.
var handled = []string{"Reverse", "Index", "Take", "Unstack", "Split"}

// apart are functions that are called in other ways than those of package ops.
var apart = map[string]bool{"Split": true, "Contract": true}

// ofPair writes an elementwise function of two tensors.
func ofPair(b *strings.Builder, name string, fn *ast.FuncDecl) {
	first, _, _ := strings.Cut(strings.ReplaceAll(fn.Doc.Text(), "\n", " "), ". ")
	fmt.Fprintf(b, "// %s.\nfunc %s(x, y any) *Tensor { return elementwise(%q, ops.%s, x, y) }\n\n", first, name, "named."+name, name)
}

// fieldsOf returns parameters or results from number first on, as in the source and as arguments.
func fieldsOf(l *ast.FieldList, first int) (list, args string) {
	var fields, names []string
	for _, f := range l.List {
		typ, end, own := types.ExprString(f.Type), "", []string{}
		if strings.HasPrefix(typ, "...") {
			end = "..."
		}
		for _, n := range f.Names {
			if first--; first < 0 {
				own, names = append(own, n.Name), append(names, n.Name+end)
			}
		}
		if len(own) > 0 || f.Names == nil {
			fields = append(fields, strings.Join(own, ", ")+" "+typ)
		}
	}
	return strings.Join(fields, ", "), strings.Join(names, ", ")
}

// ofList writes the function, with a name as type argument, that calls a method of lists of names,
// and the method of handles if there is one.
func ofList(b *strings.Builder, name string, fn *ast.FuncDecl) {
	params, args := fieldsOf(fn.Type.Params, 0)
	results, _ := fieldsOf(fn.Type.Results, 0)
	for _, c := range fn.Doc.List {
		fmt.Fprintln(b, c.Text)
	}
	fmt.Fprintf(b, "func %s[N Is[N]](%s) (%s) { return Dims{groupOf[N]()}.%s(%s) }\n\n", name, params, results, name, args)
	if slices.Contains(handled, name) {
		params, args := fieldsOf(fn.Type.Params, 1)
		fmt.Fprintf(b, "// %s is the function [%s] along the dimension of a handle.\nfunc (d Dim[N]) %s(%s) (%s) { return d.dims(%q).%s(%s) }\n\n",
			name, name, name, params, results, "named."+name, name, with("d.t", args))
	}
}

// with joins two lists of parameters.
func with(a, b string) string {
	if b == "" {
		return a
	}
	return a + ", " + b
}

// TestFunctions wants functions.go to have each operation on one tensor along axes, unless
// it is written by hand: as a function, of a list of names, and of a handle. The methods of lists
// that are written by hand get their functions too.
func TestFunctions(t *testing.T) {
	own, all := declared(t, "../..", "functions.go"), declared(t, "../../../ops", "")
	var b strings.Builder
	b.WriteString("// Code generated by go test ./named/internal/stated -update. DO NOT EDIT.\n\npackage named\n\nimport (\n\"github.com/tenonml/tenon\"\n\"github.com/tenonml/tenon/ops\"\n\"github.com/tenonml/tenon/tensor\"\n)\n\n")
	twins := []string{}
	for name := range own {
		if apart[name] {
			continue
		}
		if Function(name) != nil || own["Dims."+name] != nil && all[name] != nil {
			twins = append(twins, name)
		}
	}
	for _, name := range pairs {
		ofPair(&b, name, all[name])
		twins = append(twins, name)
	}
	for _, key := range slices.Sorted(maps.Keys(own)) {
		name, isMethod := strings.CutPrefix(key, "Dims.")
		params := own[key].Type.Params.List
		if !isMethod || own[name] != nil || len(params) == 0 || !strings.HasSuffix(types.ExprString(params[0].Type), "tenon.Value") {
			continue
		}
		if o := Function(name); o != nil && (Of(o) == Reduced || Of(o) == Kept) && Operands(o) == 1 { // below
			continue
		}
		ofList(&b, name, own[key])
		if own[name] = own[key]; all[name] != nil && !apart[name] {
			twins = append(twins, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		o := Function(name)
		if o == nil || Operands(o) != 1 || o.Monoid != nil && o.Monoid.Ordered { // the order of several dimensions would count
			continue
		}
		s, ok := spellingOf(name, all[name])
		effect := Of(o)
		if !ok || effect != Reduced && effect != Kept {
			continue
		}
		where := "a dimension"
		if s.several || own["Dims."+name] != nil {
			where += ", or the dimensions of a set"
		}
		if own[name] == nil {
			fmt.Fprintf(&b, "// %s is [ops.%s] along %s.\nfunc %s[N Is[N]](%s) *Tensor { return Dims{groupOf[N]()}.%s(%s) }\n\n", name, name, where, name, with("x tenon.Value", s.params), name, with("x", s.args))
			twins = append(twins, name)
		}
		if own["Dims."+name] == nil {
			method, f := "along", "func(x tensor.Tensor, axis int) tensor.Tensor { return "+s.call+" }"
			if effect == Reduced {
				method, f = "position", "ops."+name
			}
			if s.several {
				method = "reduce"
			}
			if s.several && s.params != "" {
				f = "func(x any, axes ...int) tensor.Tensor { return " + s.call + " }"
			}
			fmt.Fprintf(&b, "// %s is the function [%s] for the names in the list.\nfunc (d Dims) %s(%s) *Tensor { return d.%s(%q, %s, x) }\n\n", name, name, name, with("x tenon.Value", s.params), method, "named."+name, f)
		}
		if own["Dim."+name] == nil {
			fmt.Fprintf(&b, "// %s is the function [%s] along the dimension of a handle.\nfunc (d Dim[N]) %s(%s) *Tensor { return d.dims(%q).%s(%s) }\n\n", name, name, name, s.params, "named."+name, name, with("d.t", s.args))
		}
	}
	slices.Sort(twins)
	fmt.Fprintf(&b, "// twins are the functions of this package that are called as those of package ops for\n// the same operation by the numbers of axes.\nconst twins = \" %s \"\n", strings.Join(twins, " "))
	want, err := format.Source([]byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(functionsFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(functionsFile); err != nil || !bytes.Equal(got, want) {
		t.Errorf("functions.go is not what the statements say (%v): go test ./named/internal/stated -update", err)
	}
}
