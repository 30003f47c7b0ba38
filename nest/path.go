package nest

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/source"
)

// A Path is a place in a structure. An int is an index or an integer key; a
// string is a key or the name of a field, part or component.
type Path []any

// String returns the path as a Go-like selector, such as "jets[12].hits". Names
// that are not identifiers are quoted: `["a b"]`. The empty path is "".
func (p Path) String() string {
	var b strings.Builder
	for _, step := range p {
		name, ok := step.(string)
		switch {
		case !ok:
			fmt.Fprintf(&b, "[%v]", step)
		case !isName(name):
			b.WriteString("[" + strconv.Quote(name) + "]")
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(name)
		}
	}
	return b.String()
}

func isName(s string) bool {
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return false
		}
	}
	return s != ""
}

// maxDepth bounds the nesting, so that a structure that contains itself is
// detected.
const maxDepth = 200

// failure is an error that is being returned: each level adds its step to the
// path.
type failure struct {
	kind  error
	msg   string
	hint  string
	cause error
	path  Path // innermost step first
}

func fail(kind error, format string, args ...any) *failure {
	return &failure{kind: kind, msg: fmt.Sprintf(format, args...)}
}

// at adds the step that leads to the failure, and returns it.
func (f *failure) at(step any) *failure {
	f.path = append(f.path, step)
	return f
}

// maxShown bounds the number of steps that a message shows.
const maxShown = 24

func (f *failure) as(op string) error {
	p := make(Path, 0, len(f.path))
	for i := range f.path {
		p = append(p, f.path[len(f.path)-1-i])
	}
	where := p.String()
	if len(p) > maxShown {
		where = p[:maxShown].String() + "…"
	}
	return &tenon.Error{Kind: f.kind, Op: op, Where: where, Msg: f.msg, Hint: f.hint, Err: f.cause, Line: source.Line()}
}

func tooDeep() *failure {
	return fail(tenon.ErrInvalid, "the structure is nested more than %d deep, or contains itself", maxDepth)
}
