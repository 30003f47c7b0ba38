package token

import (
	"path"
	"strings"

	"github.com/tenonml/tenon/examples/gosearch/internal/decl"
)

// A Field says where a token stands.
type Field uint8

// The words of a question by position: what is asked for comes first, and a
// late word says less about it.
const (
	Lead   Field = iota // words 0 and 1
	Early               // words 2 to 4
	Middle              // words 5 to 8
	Late                // words 9 to 15
	Tail                // the rest
)

// The parts of a declaration. Nothing of the first sentence of its comment is
// among them: that is what questions are made from.
const (
	Name Field = iota + Tail + 1
	Package
	Receiver
	ParamName
	ParamType
	ResultName
	ResultType
	Body       // the comment beyond its first sentence
	TypeDoc    // what the comment of its type says first
	PackageDoc // and that of its package
	File       // the file's own name
	// Whole places, as single tokens.
	InPackage
	InFile
	OnType

	NumFields
)

var fieldNames = [NumFields]string{
	"lead", "early", "middle", "late", "tail", "name", "package", "receiver", "param_name", "param_type",
	"result_name", "result_type", "body", "type_doc", "package_doc", "file", "in_package", "in_file", "on_type",
}

// String returns the field's name: "param_type".
func (f Field) String() string {
	if f < NumFields {
		return fieldNames[f]
	}
	return "unknown"
}

// IsPlace reports whether the field holds whole places instead of words.
func (f Field) IsPlace() bool { return f >= InPackage && f < NumFields }

// A Token is a stem, or the name of a place, and where it stands.
type Token struct {
	Text  string
	Field Field
}

// A Tokenizer makes tokens. It is safe for concurrent use; the zero Tokenizer
// is ready.
type Tokenizer struct{ stemmer Stemmer }

// Question gives the tokens of a question, in order.
func (t *Tokenizer) Question(text string) []Token {
	stems := t.stemmer.Append(nil, text)
	out := make([]Token, len(stems))
	for i, s := range stems {
		out[i] = Token{s, positionField(i)}
	}
	return out
}

func positionField(i int) Field {
	switch {
	case i < 2:
		return Lead
	case i < 5:
		return Early
	case i < 9:
		return Middle
	case i < 16:
		return Late
	}
	return Tail
}

// Declaration gives the tokens of a declaration, field by field, each in the
// order of the source and as often as it stands there.
func (t *Tokenizer) Declaration(d *decl.Decl) []Token {
	var out []Token
	var stems []string
	add := func(f Field, texts ...string) {
		for _, text := range texts {
			stems = t.stemmer.Append(stems[:0], text)
			for _, s := range stems {
				out = append(out, Token{s, f})
			}
		}
	}
	add(Name, d.Name)
	add(Package, d.Package)
	add(Receiver, d.Receiver)
	add(Receiver, d.Through...)
	for _, p := range d.Params {
		add(ParamName, p.Name)
	}
	for _, p := range d.Params {
		add(ParamType, p.Type)
	}
	for _, r := range d.Results {
		add(ResultName, r.Name)
	}
	for _, r := range d.Results {
		add(ResultType, r.Type)
	}
	_, body := d.Synopsis()
	add(Body, body)
	add(TypeDoc, d.TypeDoc)
	add(PackageDoc, d.PackageDoc)
	file := path.Base(d.File)
	add(File, strings.TrimSuffix(file, ".go"))

	out = append(out, Token{"package:" + d.Package, InPackage}, Token{"file:" + d.Package + "/" + file, InFile})
	if typ := d.ReceiverType(); typ != "" {
		out = append(out, Token{"type:" + d.Package + "." + typ, OnType})
	}
	return out
}
