package main

import (
	"context"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

func tokenPos(offset int) token.Pos { return token.Pos(offset) }

// enclosing returns the expressions around a position, the innermost first.
func enclosing(file *ast.File, at token.Pos) []ast.Expr {
	var out []ast.Expr
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil || at < n.Pos() || at > n.End() {
			return n == file
		}
		if e, ok := n.(ast.Expr); ok {
			out = append(out, e)
		}
		return true
	})
	slices.Reverse(out)
	return out
}

// source returns the text of an expression, in one line.
func source(st *state, e ast.Expr) string {
	from, to := st.place(e.Pos()).Offset, st.place(e.End()).Offset
	if from < 0 || to > len(st.text) || from > to {
		return ""
	}
	return strings.Join(strings.Fields(st.text[from:to]), " ")
}

// completion completes names of dimensions: type arguments of operations, and arguments of
// named.By. The package is checked with a name inserted at the cursor, which makes the call
// complete.
func (s *server) completion(_ context.Context, p positionParams) ([]completionItem, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	none := []completionItem{}
	path := pathOf(p.TextDocument.URI)
	text, ok := s.overlay[path]
	if !ok {
		return none, nil
	}
	end := offsetOf(text, p.Position)
	start := end
	for start > 0 {
		r, size := utf8.DecodeLastRuneInString(text[:start])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '.' {
			break
		}
		start -= size
	}
	tail := end
	for tail < len(text) {
		r, size := utf8.DecodeRuneInString(text[tail:])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' {
			break
		}
		tail += size
	}
	pk, err := s.packageOf(path)
	if err != nil {
		return none, nil //nolint:nilerr // nothing can be completed then
	}
	qualifier := namedQualifier(text)
	for _, suffix := range []string{"", "{}"} { // a type, or a value of it
		filled := text[:start] + qualifier + "Rows" + suffix + text[tail:]
		c, err := s.check(pk, map[string]string{path: filled})
		if err != nil || c.files[path] == nil {
			continue
		}
		names := candidates(c, path, start)
		if len(names) == 0 {
			continue
		}
		out := none
		at := textRange{positionOf(text, start), positionOf(text, tail)}
		for _, n := range names {
			if spelled, ok := spell(c, path, n); ok {
				out = append(out, completionItem{Label: spelled + suffix, Kind: kindStruct, Detail: n, TextEdit: &textEdit{at, spelled + suffix}})
			}
		}
		return out, nil
	}
	return none, nil
}

// namedQualifier returns the qualifier that a file uses for package named.
func namedQualifier(text string) string {
	for line := range strings.Lines(text) {
		if before, _, ok := strings.Cut(line, strconv.Quote(namedPath)); ok {
			switch alias := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(before), "import")); alias {
			case "":
				return "named."
			case ".":
				return ""
			default:
				return alias + "."
			}
		}
	}
	return "named."
}

// candidates returns the names that fit at an offset of a file.
func candidates(c *checked, path string, offset int) []string {
	file := c.files[path]
	at := file.FileStart + tokenPos(offset)
	around := enclosing(file, at)
	for i, e := range around {
		call, ok := e.(*ast.CallExpr)
		if !ok {
			continue
		}
		if fn, args := typeArguments(call); fn != "" {
			if k := slices.IndexFunc(args, func(a ast.Expr) bool { return a.Pos() <= at && at <= a.End() }); k >= 0 {
				return fitting(c, fn, k, call.Args)
			}
		}
		// The case named.By(▮).Dot(a, b).
		if i+2 < len(around) && isBy(c, call) && call.Lparen < at {
			if outer, ok := around[i+2].(*ast.CallExpr); ok {
				if sel, ok := outer.Fun.(*ast.SelectorExpr); ok {
					return fitting(c, sel.Sel.Name, 0, outer.Args)
				}
			}
		}
	}
	return nil
}

// typeArguments returns the name of a function and the type arguments it is called with.
func typeArguments(call *ast.CallExpr) (string, []ast.Expr) {
	fun, args := call.Fun, []ast.Expr(nil)
	switch x := fun.(type) {
	case *ast.IndexExpr:
		fun, args = x.X, []ast.Expr{x.Index}
	case *ast.IndexListExpr:
		fun, args = x.X, x.Indices
	}
	switch x := fun.(type) {
	case *ast.SelectorExpr:
		return x.Sel.Name, args
	case *ast.Ident:
		return x.Name, args
	}
	return "", nil
}

func isBy(c *checked, call *ast.CallExpr) bool {
	var id *ast.Ident
	switch x := call.Fun.(type) {
	case *ast.SelectorExpr:
		id = x.Sel
	case *ast.Ident:
		id = x
	}
	if id == nil {
		return false
	}
	o, ok := c.info.Uses[id].(*types.Func)
	return ok && o.Pkg() != nil && o.Pkg().Path() == namedPath && o.Name() == "By"
}

// ofFirst are operations over dimensions of their first operand.
var ofFirst = []string{"Take", "Index", "LayerNorm", "RMSNorm", "CrossEntropy", "ScatterAdd", "ScatterUpdate", "ScatterMax", "ScatterMin", "Pad", "Split", "Pieces", "Merge", "Reshape"}

// fitting returns the names with which a function may be called: for a contraction those that
// its operands share, otherwise those that any operand has.
func fitting(c *checked, fn string, k int, args []ast.Expr) []string {
	if k > 0 && fn != "Attention" && fn != "Conv" { // new names
		return nil
	}
	if slices.Contains(ofFirst, fn) { // the other operands do not matter
		args = args[:min(len(args), 1)]
	}
	var out []string
	first := true
	for _, a := range args {
		names, ok := c.result.Names(a)
		switch {
		case !ok:
		case first:
			out, first = names, false
		case fn == "Dot" || fn == "Contract":
			out = slices.DeleteFunc(slices.Clone(out), func(n string) bool { return !slices.Contains(names, n) })
		default:
			for _, n := range names {
				if !slices.Contains(out, n) {
					out = append(out, n)
				}
			}
		}
	}
	return out
}

// spell returns how a file writes a name, or false if the file does not import its package.
func spell(c *checked, path, n string) (string, bool) {
	dot := strings.LastIndexByte(n, '.')
	if strings.Contains(n, "[") { // of a generic type
		return "", false
	}
	if dot < 0 || strings.Contains(n, "#") {
		return strings.SplitN(n[dot+1:], "#", 2)[0], dot >= 0
	}
	from, short := n[:dot], n[dot+1:]
	if from == c.pkg.Path() || from == "main" && c.pkg.Name() == "main" {
		return short, true
	}
	for _, im := range c.files[path].Imports {
		p, err := strconv.Unquote(im.Path.Value)
		if err != nil || p != from {
			continue
		}
		if im.Name == nil {
			return c.info.PkgNameOf(im).Name() + "." + short, true
		}
		if im.Name.Name == "." {
			return short, true
		}
		return im.Name.Name + "." + short, im.Name.Name != "_"
	}
	return "", false
}
