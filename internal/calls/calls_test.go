package calls

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

type thing struct{ tenon.Value }

// A call has the arguments in order, and the function's type.
func TestNew(t *testing.T) {
	Register[thing]()
	type X = tensor.Tensor
	x, y := thing{tensor.Scalar(1)}, tensor.Scalar(2)
	var got []any
	answer := any(x)
	f := func(args []any) any { got = args; return answer }
	check := func(name string, out any, args ...any) {
		t.Helper()
		if !reflect.DeepEqual(got, args) || !reflect.DeepEqual(out, answer) {
			t.Errorf("%s: called with %v, returned %v", name, got, out)
		}
	}
	check("func(T) T", New(reflect.TypeFor[func(thing) thing](), f).(func(thing) thing)(x), x)
	check("func(X) T", New(reflect.TypeFor[func(X) thing](), f).(func(X) thing)(y), y)
	check("func(T, T) T", New(reflect.TypeFor[func(thing, thing) thing](), f).(func(thing, thing) thing)(x, x), x, x)
	check("func(T, X) T", New(reflect.TypeFor[func(thing, X) thing](), f).(func(thing, X) thing)(x, y), x, y)
	check("func(X, T) T", New(reflect.TypeFor[func(X, thing) thing](), f).(func(X, thing) thing)(y, x), y, x)
	answer = y
	check("func(T) X", New(reflect.TypeFor[func(thing) X](), f).(func(thing) X)(x), x)
	check("func(T, T) X", New(reflect.TypeFor[func(thing, thing) X](), f).(func(thing, thing) X)(x, x), x, x)
	check("func(T, X) X", New(reflect.TypeFor[func(thing, X) X](), f).(func(thing, X) X)(x, y), x, y)
	check("func(X, T) X", New(reflect.TypeFor[func(X, thing) X](), f).(func(X, thing) X)(y, x), y, x)
	answer = nil
	if out := New(reflect.TypeFor[func(thing) X](), f).(func(thing) X)(x); out != nil {
		t.Errorf("nothing is returned as %v", out)
	}
	for _, typ := range []reflect.Type{reflect.TypeFor[func(thing)](), reflect.TypeFor[func(thing) (thing, error)](), reflect.TypeFor[func(int) int](),
		reflect.TypeFor[func(thing, int) thing](), reflect.TypeFor[func(fmt.Stringer) thing]()} {
		if got := New(typ, f); got != nil {
			t.Errorf("%v: %T", typ, got)
		}
	}
}
