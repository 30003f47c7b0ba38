package dimcheck

import (
	"fmt"
	"go/types"
	"strconv"
	"strings"

	"github.com/tenonml/tenon/internal/dimtext"
)

// module is the prefix of the import paths of the packages that the analyzer knows.
const module = "github.com/tenonml/tenon"

const namedPath = module + "/named"

// A name identifies a dimension: it is the import path and name of a Go type, the text of a dynamic
// name, or "$1" for the second type parameter of a generic function.
type name string

// param returns the name that stands for a type parameter.
func param(i int) name { return name("$" + strconv.Itoa(i)) }

// param returns the number of the type parameter that the name stands for.
func (n name) param() (int, bool) {
	digits, ok := strings.CutPrefix(string(n), "$")
	if !ok {
		return 0, false
	}
	i, err := strconv.Atoi(digits)
	return i, err == nil
}

// short returns the name as it is printed if no other is spelled like it.
func (n name) short() string {
	s, _, _ := strings.Cut(string(n), "#")
	if generic, args, ok := strings.Cut(s, "["); ok {
		var list []string
		for a := range strings.SplitSeq(strings.TrimSuffix(args, "]"), ",") {
			list = append(list, name(a).short())
		}
		return name(generic).short() + "[" + strings.Join(list, ",") + "]"
	}
	if i := strings.LastIndexByte(s, '/'); i >= 0 {
		s = s[i+1:]
	}
	if _, after, ok := strings.Cut(s, "."); ok {
		return after
	}
	return s
}

// isNamedType reports whether t is a type of package named.
func isNamedType(t types.Type, want string) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Name() == want && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == namedPath
}

// isTensor reports whether t is *named.Tensor.
func isTensor(t types.Type) bool {
	p, ok := types.Unalias(t).(*types.Pointer)
	return ok && isNamedType(p.Elem(), "Tensor")
}

// embedsDim returns the type of the Dim that a struct type embeds as its first field.
func embedsDim(t types.Type) (of types.Type, ok bool) {
	s, ok := t.Underlying().(*types.Struct)
	if !ok || s.NumFields() == 0 || !s.Field(0).Embedded() {
		return nil, false
	}
	f := s.Field(0).Type()
	if !isNamedType(f, "Dim") {
		return nil, false
	}
	args := types.Unalias(f).(*types.Named).TypeArgs()
	if args.Len() != 1 {
		return nil, false
	}
	return args.At(0), true
}

// typeName returns the name that a type represents, if it embeds the Dim of
// itself.
func typeName(t types.Type) (name, bool) {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok {
		return "", false
	}
	of, ok := embedsDim(n)
	if !ok || !types.Identical(of, n) {
		return "", false
	}
	out := nameOf(n.Obj())
	if args := n.TypeArgs(); args.Len() > 0 {
		list := make([]string, args.Len())
		for i := range list {
			if list[i], ok = argText(args.At(i)); !ok {
				return "", false
			}
		}
		out += name("[" + strings.Join(list, ",") + "]")
	}
	return out, true
}

// argText returns a type argument in the form used in the path of a generic type, and false if it
// depends on type parameters.
func argText(t types.Type) (string, bool) {
	switch u := types.Unalias(t).(type) {
	case *types.TypeParam:
		return "", false
	case *types.Named:
		for i := range u.TypeArgs().Len() {
			if _, ok := argText(u.TypeArgs().At(i)); !ok {
				return "", false
			}
		}
	}
	return types.TypeString(t, pathOf), true
}

// pathOf returns the path of a package as it appears in the types of a program.
func pathOf(p *types.Package) string {
	if p.Name() == "main" {
		return "main"
	}
	return p.Path()
}

func nameOf(o *types.TypeName) name {
	path := o.Name()
	if o.Pkg() != nil {
		path = pathOf(o.Pkg()) + "." + path
		if o.Parent() != o.Pkg().Scope() { // declared in a function
			path += "#" + strconv.Itoa(int(o.Pos()))
		}
	}
	return name(path)
}

// A typeParams gives the index of each type parameter of a function.
type typeParams map[*types.TypeParam]int

// names returns the names that a type stands for: a name type, a set of them, or a type parameter.
// Other types do not stand for names.
func (tp typeParams) names(t types.Type) ([]name, bool) {
	if p, ok := types.Unalias(t).(*types.TypeParam); ok {
		if i, ok := tp[p]; ok {
			return []name{param(i)}, true
		}
		return nil, false
	}
	if n, ok := typeName(t); ok {
		return []name{n}, true
	}
	if of, ok := embedsDim(t); ok && types.Identical(of, t) { // for a type parameter
		return nil, false
	}
	if isNamedType(t, "Dim") {
		return tp.names(types.Unalias(t).(*types.Named).TypeArgs().At(0))
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok || isSchema(t) {
		return nil, false
	}
	var out []name
	for i := range s.NumFields() {
		if f := s.Field(i); f.Embedded() && !isNamedType(f.Type(), "Set") {
			if of, ok := tp.names(f.Type()); ok {
				out = append(out, of...)
			}
		}
	}
	return out, len(out) > 0
}

// isSchema reports whether t is a struct that embeds a *named.Tensor, directly or through a struct
// that it embeds.
func isSchema(t types.Type) bool {
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for i := range s.NumFields() {
		if f := s.Field(i); f.Embedded() && (isTensor(f.Type()) || isSchema(f.Type())) {
			return true
		}
	}
	return false
}

// schema returns the dimensions of a schema type.
func schema(t types.Type) ([]dim, bool) {
	if !isSchema(t) {
		return nil, false
	}
	var out []dim
	var fields func(t types.Type)
	fields = func(t types.Type) {
		s, ok := t.Underlying().(*types.Struct)
		if !ok {
			return
		}
		for i := range s.NumFields() {
			f := s.Field(i)
			if !f.Embedded() {
				continue
			}
			if n, ok := typeName(f.Type()); ok {
				d := dim{Name: n, Size: dimtext.Absent}
				if strings.Contains(s.Tag(i), "ragged") {
					d.Size = dimtext.Ragged
				}
				out = append(out, d)
			} else if !isTensor(f.Type()) && !isNamedType(f.Type(), "Set") {
				fields(f.Type())
			}
		}
	}
	fields(t)
	return out, true
}

// holdsTensors reports whether values of a type may contain named tensors or
// names.
func holdsTensors(t types.Type) bool { return holds(t, 0) }

func holds(t types.Type, depth int) bool {
	if depth > 6 {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return false
	case *types.Pointer:
		return holds(u.Elem(), depth+1)
	case *types.Slice:
		return holds(u.Elem(), depth+1)
	case *types.Array:
		return holds(u.Elem(), depth+1)
	case *types.Map:
		return holds(u.Elem(), depth+1)
	case *types.Chan:
		return false
	case *types.Struct:
		if n, ok := types.Unalias(t).(*types.Named); ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == namedPath {
			return true
		}
		for i := range u.NumFields() {
			if holds(u.Field(i).Type(), depth+1) {
				return true
			}
		}
		return false
	case *types.Tuple:
		for i := range u.Len() {
			if holds(u.At(i).Type(), depth+1) {
				return true
			}
		}
		return false
	}
	return true // interfaces, functions, type parameters
}

func isInteger(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

// place formats a position as errors do at run time.
func place(file string, line int) string {
	return fmt.Sprintf("%s:%d", file[strings.LastIndexAny(file, `/\`)+1:], line)
}
