package decl

import (
	"cmp"
	"go/ast"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Functions and types are identified by keys: "path.Func", "path.Type", "path.Type.Method". A
// type that is not known before all declarations have been read has a key, too: that of the
// function whose result has the type, "()" and the number of the result. There is no type
// checker, because it would have to load imported packages, which may be missing.

// uses is what one folder says about its own functions and those of others.
type uses struct {
	counts map[string]int
	near   map[string]map[string]int // what is said at calls, and how often
	loose  []looseUses
}

// looseUses is a file's calls of methods of values whose type is unknown here. They are divided
// among the packages that the file imports.
type looseUses struct {
	imports []string
	methods map[string]int
}

// A fileUses collects the calls of one file.
type fileUses struct {
	*uses
	fset     *token.FileSet
	pkg      string            // import path
	imports  map[string]string // local name to path
	loose    map[string]int
	comments map[int]string // by the line on which they are, or below which they end
	env      map[string]string
}

// collect reads the calls of a file.
func (u *uses) collect(fset *token.FileSet, file *ast.File, importPath string) {
	f := fileUses{uses: u, fset: fset, pkg: importPath, imports: map[string]string{}, loose: map[string]int{}, comments: map[int]string{}}
	for _, s := range file.Imports {
		p, err := strconv.Unquote(s.Path.Value)
		if err != nil {
			continue
		}
		name := importName(p)
		if s.Name != nil {
			name = s.Name.Name
		}
		f.imports[name] = p
	}
	for _, c := range file.Comments {
		text := strings.Join(strings.Fields(c.Text()), " ")
		if n := strings.Count(text, " "); n < 2 || n > 40 {
			continue
		}
		f.comments[fset.Position(c.End()).Line+1] = text
		f.comments[fset.Position(c.Pos()).Line] = text
	}
	for _, d := range file.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			f.function(fn)
		} else {
			f.env = map[string]string{}
			f.expressions(d, "")
		}
	}
	if len(f.loose) > 0 {
		u.loose = append(u.loose, looseUses{append(slices.Sorted(maps.Values(f.imports)), importPath), f.loose})
	}
}

// importName is the name that a package most likely has.
func importName(p string) string {
	name := path.Base(p)
	if len(name) > 1 && name[0] == 'v' && strings.Trim(name[1:], "0123456789") == "" {
		name = path.Base(path.Dir(p))
	}
	name, _, _ = strings.Cut(name, ".")
	return strings.TrimPrefix(name, "go-")
}

// smallFunction is the maximum number of statements of a function whose name describes the
// functions that it calls.
const smallFunction = 12

func (f *fileUses) function(fn *ast.FuncDecl) {
	if fn.Body == nil {
		return
	}
	f.env = map[string]string{}
	for _, list := range []*ast.FieldList{fn.Recv, fn.Type.Params, fn.Type.Results} {
		if list == nil {
			continue
		}
		for _, field := range list.List {
			for _, n := range field.Names {
				f.env[n.Name] = f.typeKey(field.Type)
			}
		}
	}
	about := ""
	if name := fn.Name.Name; len(fn.Body.List) <= smallFunction && !strings.HasPrefix(name, "Example") {
		about = strings.TrimPrefix(strings.TrimPrefix(name, "Test"), "Benchmark")
	}
	f.block(fn.Body.List, about)
}

// block reads statements in order, so that variables are known where they are used.
func (f *fileUses) block(list []ast.Stmt, about string) {
	for i, s := range list {
		f.statement(s, about)
		if test, ok := s.(*ast.IfStmt); ok {
			if test.Init != nil {
				f.say(message(test.Body), test.Init)
			} else if i > 0 {
				f.say(message(test.Body), list[i-1])
			}
		}
	}
}

// message is the text of the error that is handled after "if err != nil {".
func message(b *ast.BlockStmt) string {
	if len(b.List) != 1 {
		return ""
	}
	text := ""
	ast.Inspect(b, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING && text == "" {
			text, _ = strconv.Unquote(l.Value)
		}
		return true
	})
	text = strings.Join(strings.Fields(verbs.ReplaceAllString(text, " ")), " ")
	if n := strings.Count(text, " "); n < 1 || n > 20 {
		return ""
	}
	return text
}

// verbs are those of package fmt.
var verbs = regexp.MustCompile(`%[-+# 0]*[0-9*]*(\.[0-9*]+)?(\[[0-9]+\])?[a-zA-Z%]|[^\pL\pN\s'-]+`)

func (f *fileUses) statement(s ast.Stmt, about string) {
	says := f.comments[f.fset.Position(s.Pos()).Line]
	before := func(parts ...ast.Node) {
		for _, p := range parts {
			f.expressions(p, about)
		}
		f.say(says, parts...)
	}
	switch s := s.(type) {
	case nil:
	case *ast.BlockStmt:
		f.block(s.List, about)
	case *ast.IfStmt:
		f.simple(s.Init)
		before(node(s.Init), s.Cond)
		f.block(s.Body.List, about)
		if s.Else != nil {
			f.statement(s.Else, about)
		}
	case *ast.ForStmt:
		f.simple(s.Init)
		before(node(s.Init), node(s.Cond), node(s.Post))
		f.block(s.Body.List, about)
	case *ast.RangeStmt:
		before(s.X)
		f.block(s.Body.List, about)
	case *ast.SwitchStmt:
		f.simple(s.Init)
		before(node(s.Init), node(s.Tag))
		f.block(s.Body.List, about)
	case *ast.TypeSwitchStmt:
		before(node(s.Init), s.Assign)
		f.block(s.Body.List, about)
	case *ast.SelectStmt:
		f.block(s.Body.List, about)
	case *ast.CaseClause:
		for _, e := range s.List {
			f.expressions(e, about)
		}
		f.block(s.Body, about)
	case *ast.CommClause:
		before(node(s.Comm))
		f.block(s.Body, about)
	case *ast.LabeledStmt:
		f.statement(s.Stmt, about)
	default:
		f.simple(s)
		before(s)
	}
}

// node is n, or nil if the interface holds nil.
func node[N interface {
	comparable
	ast.Node
}](n N) ast.Node {
	var none N
	if n == none {
		return nil
	}
	return n
}

// shortName is how many letters the name of a result needs to be informative.
const shortName = 4

// simple learns the types of variables.
func (f *fileUses) simple(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.AssignStmt:
		for i, left := range s.Lhs {
			name, ok := left.(*ast.Ident)
			if !ok {
				continue
			}
			if call, ok := s.Rhs[0].(*ast.CallExpr); ok && i == 0 && len(s.Rhs) == 1 && len(name.Name) >= shortName {
				f.tell(f.called(call.Fun), name.Name)
			}
			if len(s.Rhs) == len(s.Lhs) {
				f.env[name.Name] = f.valueKey(s.Rhs[i], 0)
			} else if len(s.Rhs) == 1 {
				f.env[name.Name] = f.valueKey(s.Rhs[0], i)
			}
		}
	case *ast.DeclStmt:
		d, ok := s.Decl.(*ast.GenDecl)
		if !ok {
			return
		}
		for _, spec := range d.Specs {
			v, ok := spec.(*ast.ValueSpec)
			if !ok {
				continue
			}
			for i, n := range v.Names {
				switch {
				case v.Type != nil:
					f.env[n.Name] = f.typeKey(v.Type)
				case len(v.Values) == len(v.Names):
					f.env[n.Name] = f.valueKey(v.Values[i], 0)
				case len(v.Values) == 1:
					f.env[n.Name] = f.valueKey(v.Values[0], i)
				}
			}
		}
	}
}

// typeKey returns the key of a type, or "" if the type has no name.
func (f *fileUses) typeKey(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return f.typeKey(e.X)
	case *ast.ParenExpr:
		return f.typeKey(e.X)
	case *ast.IndexExpr:
		return f.typeKey(e.X)
	case *ast.Ident:
		return f.pkg + "." + e.Name
	case *ast.SelectorExpr:
		if p, ok := f.packageOf(e.X); ok {
			return p + "." + e.Sel.Name
		}
	}
	return ""
}

func (f *fileUses) packageOf(e ast.Expr) (string, bool) {
	id, ok := e.(*ast.Ident)
	if !ok || f.env[id.Name] != "" {
		return "", false
	}
	p, ok := f.imports[id.Name]
	return p, ok
}

// valueKey returns the key of the type of result i of an expression.
func (f *fileUses) valueKey(e ast.Expr, i int) string {
	switch e := e.(type) {
	case *ast.Ident:
		return f.env[e.Name]
	case *ast.ParenExpr:
		return f.valueKey(e.X, i)
	case *ast.StarExpr:
		return f.valueKey(e.X, i)
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return f.valueKey(e.X, i)
		}
	case *ast.CompositeLit:
		return f.typeKey(e.Type)
	case *ast.TypeAssertExpr:
		return f.typeKey(e.Type)
	case *ast.CallExpr:
		if id, ok := e.Fun.(*ast.Ident); ok && id.Name == "new" && len(e.Args) == 1 {
			return f.typeKey(e.Args[0])
		}
		if k := f.called(e.Fun); k != "" {
			return k + "()" + strconv.Itoa(i)
		}
	}
	return ""
}

// called returns the key of the function or method that is called, as far as it is known.
func (f *fileUses) called(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return f.called(e.X)
	case *ast.IndexExpr:
		return f.called(e.X)
	case *ast.Ident:
		return f.pkg + "." + e.Name
	case *ast.SelectorExpr:
		if p, ok := f.packageOf(e.X); ok {
			return p + "." + e.Sel.Name
		}
		if k := f.valueKey(e.X, 0); k != "" {
			return k + "." + e.Sel.Name
		}
	}
	return ""
}

// expressions counts what is used in a node, and reads the functions in it.
func (f *fileUses) expressions(n ast.Node, about string) {
	if n == nil {
		return
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			f.block(n.Body.List, about)
			return false
		case *ast.SelectorExpr:
			k := f.called(n)
			if k == "" {
				f.loose[n.Sel.Name]++
				return true
			}
			if !strings.HasPrefix(k, f.pkg+".") || strings.Contains(k, "()") {
				f.counts[k]++
			}
			f.tell(k, about)
		}
		return true
	})
}

// fewCalls is the maximum number of calls that a comment may refer to.
const fewCalls = 3

// say records a comment for the functions called in the statement below it.
func (f *fileUses) say(text string, parts ...ast.Node) {
	if text == "" {
		return
	}
	var keys []string
	for _, p := range parts {
		if p == nil {
			continue
		}
		ast.Inspect(p, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false
			case *ast.CallExpr:
				if k := f.called(n.Fun); k != "" && !slices.Contains(keys, k) {
					keys = append(keys, k)
				}
			}
			return true
		})
	}
	if len(keys) > fewCalls {
		return
	}
	for _, k := range keys {
		f.tell(k, text)
	}
}

func (f *fileUses) tell(key, text string) {
	if text == "" || key == "" {
		return
	}
	if f.near[key] == nil {
		f.near[key] = map[string]int{}
	}
	f.near[key][text]++
}

// mostCallers bounds how many names and sentences of callers are kept.
const mostCallers = 24

// frequent returns the most frequent texts: sentences, then names.
func frequent(near map[string]int) []string {
	order := slices.SortedFunc(maps.Keys(near), func(a, b string) int {
		return cmp.Or(cmp.Compare(near[b], near[a]), strings.Compare(a, b))
	})
	var names, sentences []string
	for _, text := range order {
		list := &names
		if strings.Contains(text, " ") {
			list = &sentences
		}
		if len(*list) < mostCallers {
			*list = append(*list, text)
		}
	}
	return append(sentences, names...)
}

// resolve distributes what all folders say among declarations.
func resolve(decls []Decl, all []*uses) {
	r := resolver{byKey: map[string]int{}, types: map[string]string{}, methods: map[string][]int{}}
	for i := range decls {
		d := &decls[i]
		name := d.Package + "."
		if t := d.ReceiverType(); t != "" {
			name += t + "."
			r.methods[d.Name] = append(r.methods[d.Name], i)
		}
		for _, t := range d.Through {
			r.byKey[d.Package+"."+t+"."+d.Name] = i
		}
		r.byKey[name+d.Name] = i
	}
	r.decls = decls
	uses, near := make([]float64, len(decls)), make([]map[string]int, len(decls))
	for _, u := range all {
		for key, n := range u.counts {
			if i, ok := r.find(key); ok {
				uses[i] += float64(n)
			}
		}
		for _, l := range u.loose {
			r.divide(uses, l)
		}
		for key, texts := range u.near {
			i, ok := r.find(key)
			if !ok {
				continue
			}
			if near[i] == nil {
				near[i] = map[string]int{}
			}
			for text, n := range texts {
				if text != decls[i].Name {
					near[i][text] += n
				}
			}
		}
	}
	for i := range decls {
		decls[i].Uses = int64(uses[i] + 0.5)
		decls[i].Callers = append(decls[i].Callers, frequent(near[i])...)
	}
}

type resolver struct {
	decls   []Decl
	byKey   map[string]int
	types   map[string]string // of keys that hold "()"
	methods map[string][]int
}

// find is the declaration of a function's or method's key.
func (r *resolver) find(key string) (int, bool) {
	if at := strings.LastIndex(key, "()"); at >= 0 {
		dot := strings.IndexByte(key[at:], '.')
		if dot < 0 {
			return 0, false
		}
		t := r.typeOf(key[:at+dot])
		if t == "" {
			return 0, false
		}
		key = t + key[at+dot:]
	}
	i, ok := r.byKey[key]
	return i, ok
}

// typeOf returns the key of the type for the key of a result.
func (r *resolver) typeOf(key string) string {
	if t, ok := r.types[key]; ok {
		return t
	}
	at := strings.LastIndex(key, "()")
	t := key[:at] // a conversion, if it is not a function
	n, err := strconv.Atoi(key[at+2:])
	if i, ok := r.find(t); ok && err == nil {
		d := &r.decls[i]
		t = ""
		if n < len(d.Results) {
			t = strings.TrimLeft(d.Results[n].Type, "*")
			switch p, name, qualified := strings.Cut(t, "."); {
			case qualified:
				t = "" // in another package, whose path is unknown here
				if p == d.PackageName {
					t = d.Package + "." + name
				}
			default:
				t, _, _ = strings.Cut(d.Package+"."+t, "[")
			}
		}
	} else if strings.Contains(t, "()") {
		t = ""
	}
	r.types[key] = t
	return t
}

// divide distributes a file's calls of methods among the packages that it imports.
func (r *resolver) divide(uses []float64, l looseUses) {
	for name, n := range l.methods {
		var among []int
		for _, i := range r.methods[name] {
			if _, ok := slices.BinarySearch(l.imports[:len(l.imports)-1], r.decls[i].Package); ok {
				among = append(among, i)
			}
		}
		for _, i := range among {
			uses[i] += float64(n) / float64(cmp.Or(len(among), 1))
		}
	}
}
