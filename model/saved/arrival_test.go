package saved_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
)

// share is a part of a whole, which is at most all of it.
type share struct {
	Part  tensor.Tensor `tenon:"shape=[n]"`
	Whole tensor.Tensor `tenon:"shape=[n]"`
}

func (s share) Spec() tenon.Spec { return ext.SpecOf(s) }

func (s share) Validate() error {
	p, ok := op.Known(s.Part)
	w, ok2 := op.Known(s.Whole)
	if !ok || !ok2 {
		return nil
	}
	for i, x := range tensor.Data[float64](p) {
		if y := tensor.Data[float64](w)[i]; x > y {
			return &tenon.Error{Kind: tenon.ErrRange, Where: fmt.Sprintf("Part[%d]", i), Msg: fmt.Sprintf("%v is more than %v", x, y)}
		}
	}
	return nil
}

// holding holds one among others.
type holding struct{ First, Second share }

func (h holding) Spec() tenon.Spec { return ext.SpecOf(h) }

// What a file holds is checked when it arrives, by the types themselves, and again
// where a type was not known when the file was read.
func TestValuesAreCheckedOnArrival(t *testing.T) {
	register := func() func() {
		ext.Register[share]("saved_test.Share")
		ext.Register[holding]("saved_test.Holding")
		return func() { ext.Unregister[share](); ext.Unregister[holding]() }
	}
	forget := register()
	one := func(part, whole float64) share {
		return share{tensor.Vector([]float64{0, part}), tensor.Vector([]float64{1, whole})}
	}
	unequal := one(1, 2)
	unequal.Whole = tensor.Vector([]float64{1, 2, 3})
	for name, c := range map[string]struct {
		v     tenon.Value
		kind  error
		where string
	}{
		"sound":              {holding{one(1, 2), one(3, 3)}, nil, ""},
		"not sound":          {one(3, 2), tenon.ErrRange, "Part[1]"},
		"not sound, inside":  {holding{one(1, 2), one(4, 3)}, tenon.ErrRange, "Second.Part[1]"},
		"a batch":            {must(ext.Stack(one(1, 2), one(2, 2))), nil, ""},
		"a row of a batch":   {must(ext.Stack(one(1, 2), one(3, 2))), tenon.ErrInvalid, "Part"},
		"a relation of tags": {holding{unequal, one(3, 3)}, tenon.ErrInvalid, "First"},
	} {
		var b bytes.Buffer
		if err := saved.Encode(&b, c.v, saved.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		file := must(saved.NewFile(bytes.NewReader(b.Bytes()), int64(b.Len())))
		verify := func(how string, v tenon.Value, err error) {
			switch {
			case c.kind == nil:
				if err != nil || !tensor.Equal(v, c.v, tensor.EqualOptions{}) {
					t.Errorf("%s, %s: %v, %v", name, how, v, err)
				}
			case !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.where):
				t.Errorf("%s, %s: %v, want %v at %s", name, how, err, c.kind, c.where)
			}
		}
		v, err := file.Value("")
		verify("read", v, err)
		out, err := saved.Fill[any](file, c.v.Spec(), saved.ReadOptions{})
		v, _ = out.(tenon.Value)
		verify("filled in", v, err)
		forget()
		opaque, err := must(saved.NewFile(bytes.NewReader(b.Bytes()), int64(b.Len()))).Value("")
		if err != nil {
			t.Errorf("%s: an unknown type: %v", name, err)
		}
		forget = register()
		v, err = ext.Resolve(opaque)
		verify("resolved", v, err)
	}
	forget()
}
