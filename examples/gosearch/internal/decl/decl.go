package decl

import (
	"go/ast"
	"os"
	"strings"
)

// Decl is one documented function or method.
type Decl struct {
	// Package is the import path.
	Package string `json:"package"`
	// PackageName is the name in the package clause.
	PackageName string `json:"package_name"`
	Name        string `json:"name"`
	// Kind is "func" or "method".
	Kind string `json:"kind"`
	// Receiver is the receiver's type, as in "*Reader" or "List[T]"; empty for a function.
	Receiver string `json:"receiver"`
	// Through is the exported types that have a method because they embed its receiver's type,
	// which is not exported.
	Through    []string `json:"through"`
	TypeParams []Param  `json:"type_params"`
	Params     []Param  `json:"params"`
	Results    []Param  `json:"results"`
	Doc        string   `json:"doc"`
	// TypeDoc and PackageDoc are the first paragraph of the comment of the type that a method
	// or a constructor belongs to, and the first sentence of the package's.
	TypeDoc    string    `json:"type_doc"`
	PackageDoc string    `json:"package_doc"`
	Examples   []Example `json:"examples"`
	// Uses is about how often other packages, and tests, name it in the source that was read;
	// Callers is what comments beside calls say, and the names of small functions that call it.
	Uses    int64    `json:"uses"`
	Callers []string `json:"callers"`
	// Asked is questions that people ask for it: see package asked.
	Asked []string `json:"asked"`
	// File is slash-separated; $GOROOT and $GOMODCACHE stand for those folders,
	// so that an index means the same on another machine. See [Locator].
	File string `json:"file"`
	Line int    `json:"line"`
}

// Param is a parameter, a result or a type parameter. Name is empty where the
// source gives none. A variadic parameter's type starts with "...".
type Param struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// Example is a runnable example of a function or method.
type Example struct {
	// Name is the example's suffix, empty for the main one.
	Name   string `json:"name"`
	Code   string `json:"code"`
	Output string `json:"output"`
}

// QualifiedName is the name as a user writes it: "bufio.Scanner.Scan",
// "strings.Cut".
func (d *Decl) QualifiedName() string {
	return d.PackageName + "." + d.localName()
}

// localName is the name without the package's: "Scanner.Scan". A method that is reached
// through an exported type has that type's.
func (d *Decl) localName() string {
	t := d.ReceiverType()
	if t == "" {
		return d.Name
	}
	if len(d.Through) > 0 {
		t = d.Through[len(d.Through)-1]
	}
	return t + "." + d.Name
}

// Paths are the names after the import path: "bufio.Scanner.Scan", "net/http.Get"; more than one for a
// method that several types have.
func (d *Decl) Paths() []string {
	t := d.ReceiverType()
	if t == "" {
		return []string{d.Package + "." + d.Name}
	}
	out := []string{d.Package + "." + t + "." + d.Name}
	for _, t := range d.Through {
		out = append(out, d.Package+"."+t+"."+d.Name)
	}
	return out
}

// Places returns the indices of declarations by path.
func Places(decls []Decl) map[string][]int {
	out := map[string][]int{}
	for i := range decls {
		for _, p := range decls[i].Paths() {
			out[p] = append(out[p], i)
		}
	}
	return out
}

// Public reports whether any program may import and use it: it is exported, a method of
// what is, in a package that is neither internal nor vendored nor a program.
func (d *Decl) Public() bool {
	if !ast.IsExported(d.Name) || d.PackageName == "main" {
		return false
	}
	if t := d.ReceiverType(); t != "" && !ast.IsExported(t) && len(d.Through) == 0 {
		return false
	}
	for part := range strings.SplitSeq(d.Package, "/") {
		if part == "internal" || part == "vendor" {
			return false
		}
	}
	return true
}

// Deprecated reports whether the comment advises against it.
func (d *Decl) Deprecated() bool {
	return strings.HasPrefix(d.Doc, "Deprecated: ") || strings.Contains(d.Doc, "\nDeprecated: ")
}

// ReceiverType is the name of the receiver's type alone, without pointer and
// type parameters.
func (d *Decl) ReceiverType() string { return typeName(d.Receiver) }

// typeName is "Reader" for "*Reader", "List" for "List[T]".
func typeName(receiver string) string {
	name, _, _ := strings.Cut(strings.TrimLeft(receiver, "*("), "[")
	return strings.TrimRight(name, ")")
}

// Signature is the declaration's first line in Go syntax.
func (d *Decl) Signature() string {
	var b strings.Builder
	b.WriteString("func ")
	if d.Receiver != "" {
		b.WriteString("(" + d.Receiver + ") ")
	}
	b.WriteString(d.Name)
	if len(d.TypeParams) > 0 {
		writeParams(&b, d.TypeParams, '[', ']')
	}
	writeParams(&b, d.Params, '(', ')')
	switch {
	case len(d.Results) == 1 && d.Results[0].Name == "":
		b.WriteString(" " + d.Results[0].Type)
	case len(d.Results) > 0:
		b.WriteByte(' ')
		writeParams(&b, d.Results, '(', ')')
	}
	return b.String()
}

// writeParams writes a list, naming a type once for a run of names that share it.
func writeParams(b *strings.Builder, ps []Param, open, end byte) {
	b.WriteByte(open)
	for i, p := range ps {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(p.Name)
		shared := p.Name != "" && i+1 < len(ps) && ps[i+1].Name != "" && ps[i+1].Type == p.Type
		if shared {
			continue
		}
		if p.Name != "" {
			b.WriteByte(' ')
		}
		b.WriteString(p.Type)
	}
	b.WriteByte(end)
}

// A Locator turns [Decl.File] into a path of this machine.
type Locator struct{ GOROOT, ModCache string }

// Path expands a leading $GOROOT or $GOMODCACHE. A variable that the Locator
// does not know stays as it is.
func (l Locator) Path(file string) string {
	for _, v := range [...]struct{ name, value string }{{"$GOROOT", l.GOROOT}, {"$GOMODCACHE", l.ModCache}} {
		if rest, ok := strings.CutPrefix(file, v.name+"/"); ok && v.value != "" {
			return v.value + string(os.PathSeparator) + strings.ReplaceAll(rest, "/", string(os.PathSeparator))
		}
	}
	return file
}
