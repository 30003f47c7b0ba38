package named

import (
	"reflect"
	"slices"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/dimtext"
	"github.com/tenonml/tenon/nest"
)

// A field of type *Tensor declares its dimensions with a tag, in any order:
//
//	type Attention struct {
//		Query *named.Tensor `dims:"Model,Head,Rep"`
//	}
//
// train.Fit, train.NewTrainer and saved.Read check the tag, and dimcheck relies on it where it
// reads the field. A word is the printed form of a name or its path; a type parameter of the struct
// stands for names that only dimcheck knows.
func init() {
	nest.Promise("dims", func(tag string, owner reflect.Type, value any) error {
		t, ok := asNamed(value)
		if !ok || t == nil {
			return nil
		}
		return t.declared(tag, owner)
	})
}

// declared checks the names of a tensor against a tag.
func (t *Tensor) declared(tag string, owner reflect.Type) error {
	l := t.spec.names
	var lacks []dimtext.Dim
	found := none
	words := strings.FieldsFunc(tag, func(r rune) bool { return r == ',' || r == ' ' })
	for _, w := range words {
		if i := slices.IndexFunc(l.ids, func(n id) bool { return l.text(n) == w || n.String() == w || n.info().path == w }); i >= 0 {
			found = found.and(layoutOf(l.ids[i : i+1]))
		} else {
			lacks = append(lacks, dimtext.Dim{Name: w, Size: dimtext.Absent})
		}
	}
	extra := l.without(found)
	switch open := strings.Contains(owner.Name(), "["); {
	case len(lacks) == 0 && len(extra.ids) == 0:
		return nil
	case open && len(lacks) > 0 && len(extra.ids) >= len(lacks): // type parameters, which may be sets
		return nil
	}
	want := make([]dimtext.Dim, 0, len(words))
	for _, w := range words {
		want = append(want, dimtext.Dim{Name: w, Size: dimtext.Absent})
	}
	msg, hint := dimtext.Declared(want, one{"tensor", t}.text())
	return worded(tenon.ErrInvalid, "named.Tensor", msg, hint)
}
