package dimcheck

import (
	"fmt"
	"go/ast"
	"go/types"
	"reflect"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/tenonml/tenon/internal/dimtext"
)

// A field of type *named.Tensor declares its dimensions with a tag, which package named checks at
// run time when a model is trained or read:
//
//	type Attention struct {
//		Query *named.Tensor `dims:"Model,Head,Rep"`
//	}
//
// The words are names of types in the scope of the struct: types of its package or of one that it
// imports ("gpt.Model"), or type parameters of the struct.

// fieldDims returns the dimensions that a field of a struct type declares, and false if it declares
// none or they are not known.
func (tp typeParams) fieldDims(t types.Type, s *types.Struct, i int) ([]name, bool) {
	words, ok := dimsTag(s.Tag(i))
	if !ok || !isTensor(s.Field(i).Type()) {
		return nil, false
	}
	var out []name
	for _, w := range words {
		of, known := declaredType(t, s.Field(i).Pkg(), w)
		if !known {
			return nil, false
		}
		names, known := tp.names(of)
		if !known {
			return nil, false
		}
		out = append(out, names...)
	}
	return out, true
}

// dimsTag returns the words of a field's tag.
func dimsTag(tag string) ([]string, bool) {
	text, ok := reflect.StructTag(tag).Lookup("dims")
	if !ok {
		return nil, false
	}
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' }), true
}

// declaredType returns the type that a word in a struct's declaration refers to.
func declaredType(t types.Type, pkg *types.Package, word string) (types.Type, bool) {
	if n, ok := types.Unalias(t).(*types.Named); ok {
		params := n.Origin().TypeParams()
		for i := range params.Len() {
			if params.At(i).Obj().Name() != word {
				continue
			}
			if args := n.TypeArgs(); i < args.Len() {
				return args.At(i), true
			}
			return params.At(i), true
		}
	}
	if pkg == nil {
		return nil, false
	}
	in, after, qualified := strings.Cut(word, ".")
	if o, ok := pkg.Scope().Lookup(word).(*types.TypeName); ok && !qualified {
		return o.Type(), true
	}
	for _, p := range pkg.Imports() {
		if qualified && p.Name() == in {
			word = after
		} else if qualified {
			continue
		}
		// Without a package name, it may come from a dot import.
		if o, ok := p.Scope().Lookup(word).(*types.TypeName); ok && o.Exported() {
			if _, ok := (typeParams{}).names(o.Type()); ok {
				return o.Type(), true
			}
		}
	}
	return nil, false
}

// storeField returns the node that checks what is stored in a field that declares its dimensions.
func (b *body) storeField(s *ssa.Store) {
	a, ok := s.Addr.(*ssa.FieldAddr)
	if !ok {
		return
	}
	t := a.X.Type().Underlying().(*types.Pointer).Elem()
	st, ok := t.Underlying().(*types.Struct)
	if !ok {
		return
	}
	dims, ok := b.params.fieldDims(t, st, a.Field)
	if !ok {
		return
	}
	pos, end := s.Pos(), s.Pos()
	if e := b.valueExpr(s); e != nil {
		pos, end = e.Pos(), e.End()
	}
	n := node{Op: ruleOp, Key: fieldKey, Keys: []string{typeText(t) + "." + st.Field(a.Field).Name()}, Args: []int{b.value(s.Val)}, Val: tensorOf(namesVal(dims).Dims, nil), Guards: b.guards(s.Block())}
	b.add(n, pos, end)
}

// valueExpr returns the call whose result is stored, if it is one.
func (b *body) valueExpr(s *ssa.Store) ast.Expr {
	if c, ok := s.Val.(*ssa.Call); ok {
		if e := b.calls[c.Pos()]; e != nil {
			return e
		}
	}
	return nil
}

// fieldKey is the key of the rule for assignments to fields.
const fieldKey = "dims.field"

func fieldRule(r *ruleCall) *val {
	x, own := r.tensor(0), r.f.resolved(r.n.Val)
	if !isTensorVal(own) {
		return anything
	}
	r.title = "field " + r.n.Keys[0]
	if len(without(own.Dims, dimNames(x.Dims))) == 0 && len(without(x.Dims, dimNames(own.Dims))) == 0 {
		return x
	}
	o := operand{"tensor", x, -1}
	scope := scopeOf([]operand{o}, dimNames(own.Dims)...)
	msg, hint := dimtext.Declared(textsIn(own.Dims, scope), textsAbout([]operand{o}, dimNames(own.Dims)...)[0])
	r.report(problem{rule: ruleSchema, op: r.title, msg: msg, hint: hint})
	return own
}

// tags reports words in the tags of fields that are not names of dimensions.
func tags(pass *analysis.Pass) {
	for _, f := range pass.Files {
		ast.Inspect(f, func(n ast.Node) bool {
			ts, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			o, ok := pass.TypesInfo.Defs[ts.Name].(*types.TypeName)
			st, isStruct := ts.Type.(*ast.StructType)
			if !ok || !isStruct {
				return true
			}
			for _, field := range st.Fields.List {
				if field.Tag == nil || len(field.Tag.Value) < 2 {
					continue
				}
				words, ok := dimsTag(field.Tag.Value[1 : len(field.Tag.Value)-1])
				if !ok {
					continue
				}
				if t := pass.TypesInfo.TypeOf(field.Type); t == nil || !isTensor(t) {
					pass.Report(analysis.Diagnostic{Pos: field.Tag.Pos(), End: field.Tag.End(), Category: ruleDim, Message: "the tag dims is for fields of type *named.Tensor"})
					continue
				}
				for _, w := range words {
					t, known := declaredType(o.Type(), pass.Pkg, w)
					if _, isParam := t.(*types.TypeParam); known && isParam {
						continue
					}
					if known {
						_, known = typeParams{}.names(t)
					}
					if !known {
						pass.Report(analysis.Diagnostic{Pos: field.Tag.Pos(), End: field.Tag.End(), Category: ruleDim, Message: fmt.Sprintf("%s in the tag dims is not the name of a dimension", w)})
					}
				}
			}
			return true
		})
	}
}
