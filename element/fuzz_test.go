package element_test

import (
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// FuzzParse tries texts and types: what is read has a text that is read as the same element.
func FuzzParse(f *testing.F) {
	for typ, texts := range samples() {
		for _, text := range texts {
			f.Add(typ.String(), text)
		}
	}
	f.Add("decimal(38, -2)", "1e40")
	f.Add("timestamp[ns, +05:30]", "1677-09-21T00:12:43.145224193Z")
	f.Add("duration[ns]", "P1W2DT3H4M5.000000006S")
	f.Fuzz(func(t *testing.T, name, text string) {
		typ, err := element.ParseType(name)
		if err != nil || typ.Width > 1<<16 {
			return
		}
		if again, err := element.ParseType(typ.String()); err != nil || again != typ {
			t.Fatalf("%q is %v, which is read as %v, %v", name, typ, again, err)
		}
		x, err := element.Parse([]string{text}, typ)
		if err != nil {
			return
		}
		texts := tenon.Must(element.Texts(x))
		y, err := element.Parse(texts, typ)
		if err != nil {
			t.Fatalf("%v: %q is written as %v, which is not read: %v", typ, text, texts, err)
		}
		if !tensor.Item[bool](ops.All(ops.Equal(x, y))) {
			t.Fatalf("%v: %q is written as %v, which is %v", typ, text, texts, y)
		}
	})
}
