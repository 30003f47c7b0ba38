package dimcheck

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// diagnostics reports the problems in source order.
func (k *packageCheck) diagnostics() {
	var list []analysis.Diagnostic
	said := map[spot]string{}
	for _, p := range k.problems {
		i, ok := k.place(&p)
		if !ok {
			continue
		}
		s := p.calls[i]
		if strings.Contains(said[s]+" ", " "+p.rule+" ") {
			continue
		}
		said[s] += " " + p.rule
		at := s.prog.local[s.node]
		if i > 0 {
			in := p.calls[0]
			p.outer, p.fixes = in.prog.Name, nil
			if site := in.prog.Nodes[in.node].Site; site != "" {
				p.outer += " (" + site.line() + ")"
			}
		}
		d := analysis.Diagnostic{Pos: at.pos, End: at.end, Category: p.rule, Message: p.text()}
		for k, c := range p.calls {
			where, here := c.prog.local[c.node]
			switch {
			case !here || k == i:
			case k < i:
				d.Related = append(d.Related, analysis.RelatedInformation{Pos: where.pos, End: where.end, Message: "in " + c.prog.Name + ", where it fails"})
			default:
				d.Related = append(d.Related, analysis.RelatedInformation{Pos: where.pos, End: where.end, Message: p.calls[k-1].prog.Name + " is called here"})
			}
		}
		for _, f := range p.fixes {
			if edits := k.edits(k.callAt(at.pos, at.end), f); edits != nil {
				d.SuggestedFixes = append(d.SuggestedFixes, analysis.SuggestedFix{Message: f.message, TextEdits: edits})
			}
		}
		list = append(list, d)
	}
	slices.SortStableFunc(list, func(a, b analysis.Diagnostic) int { return int(a.Pos - b.Pos) })
	for _, d := range list {
		k.pass.Report(d)
	}
}

func (k *packageCheck) callAt(pos, end token.Pos) *ast.CallExpr {
	for _, c := range k.calls {
		if c.Pos() == pos && c.End() == end {
			return c
		}
	}
	return nil
}

// callOf returns the call at a site.
func (k *packageCheck) callOf(s site) *ast.CallExpr {
	for _, c := range k.calls {
		p := k.fset.Position(c.Pos())
		if site(place(p.Filename, p.Line)+":"+strconv.Itoa(p.Column)) == s {
			return c
		}
	}
	return nil
}

// edits returns the edits for a fix, or nil if it cannot be applied.
func (k *packageCheck) edits(call *ast.CallExpr, f fix) []analysis.TextEdit {
	var out []analysis.TextEdit
	for _, c := range f.changes {
		at := call
		if c.site != "" {
			at = k.callOf(c.site)
		}
		if at == nil {
			return nil
		}
		e := k.edit(at, c)
		if e == nil {
			return nil
		}
		out = append(out, e...)
	}
	return out
}

func (k *packageCheck) edit(call *ast.CallExpr, c change) []analysis.TextEdit {
	file := k.fileOf(call.Pos())
	qualifier, ok := k.qualifier(file, namedPath)
	if !ok {
		return nil
	}
	switch c.kind {
	case wrapArg:
		from, ok1 := k.spelled(file, call.Pos(), c.from)
		to, ok2 := k.spelled(file, call.Pos(), c.to)
		if !ok1 || !ok2 || c.arg < 0 || c.arg >= len(call.Args) {
			return nil
		}
		arg := call.Args[c.arg]
		return []analysis.TextEdit{
			{Pos: arg.Pos(), End: arg.Pos(), NewText: fmt.Appendf(nil, "%sRename[%s, %s](", qualifier, from, to)},
			{Pos: arg.End(), End: arg.End(), NewText: []byte(")")},
		}
	case setTypeArg:
		to, ok := k.spelled(file, call.Pos(), c.to)
		args := typeArgExprs(call)
		if !ok || c.at >= len(args) {
			return nil
		}
		return []analysis.TextEdit{{Pos: args[c.at].Pos(), End: args[c.at].End(), NewText: []byte(to)}}
	case setFunc:
		fn := ast.Unparen(call.Fun)
		switch x := fn.(type) {
		case *ast.IndexExpr:
			fn = x.X
		case *ast.IndexListExpr:
			fn = x.X
		}
		return []analysis.TextEdit{{Pos: fn.Pos(), End: fn.End(), NewText: []byte(qualifier + "Contract")}}
	case setSchema:
		return k.editSchema(call, c.list)
	}
	return nil
}

// typeArgExprs returns the type arguments that a call spells out.
func typeArgExprs(call *ast.CallExpr) []ast.Expr {
	switch x := ast.Unparen(call.Fun).(type) {
	case *ast.IndexExpr:
		return []ast.Expr{x.Index}
	case *ast.IndexListExpr:
		return x.Indices
	}
	return nil
}

func (k *packageCheck) fileOf(pos token.Pos) *ast.File {
	for _, f := range k.pass.Files {
		if f.FileStart <= pos && pos < f.FileEnd {
			return f
		}
	}
	return nil
}

// qualifier returns the prefix for the names of a package in a file.
func (k *packageCheck) qualifier(file *ast.File, path string) (string, bool) {
	if path == k.pass.Pkg.Path() {
		return "", true
	}
	if file == nil {
		return "", false
	}
	for _, im := range file.Imports {
		p, err := strconv.Unquote(im.Path.Value)
		if err != nil || p != path {
			continue
		}
		if im.Name == nil {
			return k.pass.TypesInfo.PkgNameOf(im).Name() + ".", true
		}
		switch im.Name.Name {
		case "_":
		case ".":
			return "", true
		default:
			return im.Name.Name + ".", true
		}
	}
	return "", false
}

// spelled returns how a name is written at a position, and false if it is not in scope.
func (k *packageCheck) spelled(file *ast.File, pos token.Pos, n name) (string, bool) {
	short := n.short()
	if strings.Contains(short, "[") { // how its type arguments are written is not known
		return "", false
	}
	path := strings.TrimSuffix(strings.TrimSuffix(string(n), short), ".")
	if i := strings.IndexByte(string(n), '#'); i >= 0 { // declared in a function
		path = k.pass.Pkg.Path()
	}
	if path == pathOf(k.pass.Pkg) {
		path = k.pass.Pkg.Path()
	}
	q, ok := k.qualifier(file, path)
	if !ok {
		return "", false
	}
	if q != "" {
		return q + short, ast.IsExported(short)
	}
	scope := k.pass.Pkg.Scope().Innermost(pos)
	if scope == nil {
		return "", false
	}
	_, o := scope.LookupParent(short, pos)
	if o == nil {
		return "", false
	}
	tn, ok := o.(*types.TypeName)
	if !ok {
		return "", false
	}
	got, ok := typeName(tn.Type())
	return short, ok && got == n
}

// editSchema rewrites the fields of a schema, if it is declared in the package and names each of
// its dimensions itself.
func (k *packageCheck) editSchema(call *ast.CallExpr, list []name) []analysis.TextEdit {
	args := typeArgExprs(call)
	if len(args) != 1 {
		return nil
	}
	id, ok := args[0].(*ast.Ident)
	if !ok {
		return nil
	}
	o := k.pass.TypesInfo.Uses[id]
	for _, f := range k.pass.Files {
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range g.Specs {
				ts, ok := s.(*ast.TypeSpec)
				if !ok || k.pass.TypesInfo.Defs[ts.Name] != o || o == nil {
					continue
				}
				if st, ok := ts.Type.(*ast.StructType); ok {
					return k.editFields(f, st, list)
				}
			}
		}
	}
	return nil
}

func (k *packageCheck) editFields(file *ast.File, st *ast.StructType, list []name) []analysis.TextEdit {
	var out []analysis.TextEdit
	var have []name
	fields := st.Fields.List
	for i, f := range fields {
		t := k.pass.TypesInfo.TypeOf(f.Type)
		if len(f.Names) > 0 || t == nil {
			return nil
		}
		if isTensor(t) {
			continue
		}
		n, ok := typeName(t)
		if !ok {
			return nil
		}
		if slices.Contains(list, n) {
			have = append(have, n)
			continue
		}
		if i == 0 {
			return nil
		}
		out = append(out, analysis.TextEdit{Pos: fields[i-1].End(), End: f.End()})
	}
	var b strings.Builder
	for _, n := range list {
		if slices.Contains(have, n) {
			continue
		}
		s, ok := k.spelled(file, st.Pos(), n)
		if !ok {
			return nil
		}
		b.WriteString("; " + s)
	}
	if b.Len() > 0 {
		last := fields[len(fields)-1].End()
		out = append(out, analysis.TextEdit{Pos: last, End: last, NewText: []byte(b.String())})
	}
	return out
}

// declarations reports name types that embed the Dim of another one.
func declarations(pass *analysis.Pass) {
	for _, f := range pass.Files {
		ast.Inspect(f, func(n ast.Node) bool {
			ts, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			o, ok := pass.TypesInfo.Defs[ts.Name].(*types.TypeName)
			st, isStruct := ts.Type.(*ast.StructType)
			if !ok || !isStruct || st.Fields.NumFields() == 0 {
				return true
			}
			of, ok := embedded(o.Type())
			if n, generic := types.Unalias(of).(*types.Named); !ok || types.Identical(of, o.Type()) || generic && n.Origin() == o.Type() {
				return true
			}
			e, ok := st.Fields.List[0].Type.(*ast.IndexExpr)
			if !ok {
				return true
			}
			kind := "Dim"
			if isSet(o.Type()) {
				kind = "Set"
			}
			pass.Report(analysis.Diagnostic{Pos: ts.Pos(), End: ts.End(), Category: ruleDim,
				Message: fmt.Sprintf("%s embeds the named.%s of %s: declare it as struct{ named.%s[%s] }", o.Name(), kind, types.TypeString(of, types.RelativeTo(pass.Pkg)), kind, o.Name()),
				SuggestedFixes: []analysis.SuggestedFix{{Message: "embed named." + kind + "[" + o.Name() + "]",
					TextEdits: []analysis.TextEdit{{Pos: e.Index.Pos(), End: e.Index.End(), NewText: []byte(o.Name())}}}}})
			return true
		})
	}
}

// embedded returns the type argument of the Dim or Set that a type embeds first.
func embedded(t types.Type) (types.Type, bool) {
	if of, ok := embedsDim(t); ok {
		return of, true
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok || s.NumFields() == 0 || !s.Field(0).Embedded() || !isNamedType(s.Field(0).Type(), "Set") {
		return nil, false
	}
	args := types.Unalias(s.Field(0).Type()).(*types.Named).TypeArgs()
	if args.Len() != 1 {
		return nil, false
	}
	return args.At(0), true
}
