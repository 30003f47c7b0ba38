package decl

import (
	"os"
	"strings"
)

// Decl is one documented function or method.
type Decl struct {
	// Package is the import path.
	Package string `json:"package"`
	Name    string `json:"name"`
	// Kind is "func" or "method".
	Kind string `json:"kind"`
	// Receiver is the receiver's type, as in "*Reader" or "List[T]"; empty for a function.
	Receiver   string    `json:"receiver"`
	TypeParams []Param   `json:"type_params"`
	Params     []Param   `json:"params"`
	Results    []Param   `json:"results"`
	Doc        string    `json:"doc"`
	Examples   []Example `json:"examples"`
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
	base := d.Package[strings.LastIndexByte(d.Package, '/')+1:]
	if t := d.ReceiverType(); t != "" {
		return base + "." + t + "." + d.Name
	}
	return base + "." + d.Name
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
