package spectest

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/tensor"
)

// Options change what [Laws] expects. The zero value is right for most types.
type Options struct {
	// Unregistered means that the type has no registered name, so that its Specs are not expected
	// to be read back.
	Unregistered bool
}

// Laws checks all laws for each of the values, and the laws about several Specs
// for each pair and triple of their Specs.
func Laws(t testing.TB, o Options, values ...tenon.Value) {
	t.Helper()
	if len(values) == 0 {
		t.Errorf("spectest.Laws: there are no values")
	}
	specs := make([]tenon.Spec, 0, len(values))
	for i, v := range values {
		c := &checker{TB: t, o: o, what: fmt.Sprintf("value %d (%T)", i, v)}
		var s tenon.Spec
		if !c.runs("Spec", func() { s = v.Spec() }) || s == nil {
			c.broken("spec", "the Spec is nil")
			continue
		}
		c.what = fmt.Sprintf("value %d, %.120s", i, tenon.String(s))
		specs = append(specs, s)
		c.runs("spec", func() { c.spec(v, s) })
		c.runs("components", func() { c.components(v, s) })
		c.runs("owned", func() { c.owned(v, s) })
		c.runs("nest", func() { c.nest(v) })
		c.runs("batch", func() { c.batch(s) })
		c.runs("box", func() { c.box(v, s) })
		c.runs("opaque", func() { c.opaque(v, s) })
		c.runs("hostile", func() { c.hostile(s) })
	}
	c := &checker{TB: t, o: o, what: "the Specs"}
	c.runs("lattice", func() { c.lattice(values, specs) })
}

// checker reports laws broken by a value.
type checker struct {
	testing.TB
	o    Options
	what string
}

func (c *checker) broken(law, format string, args ...any) {
	c.Helper()
	c.Errorf("%s: %s: %s", c.what, law, fmt.Sprintf(format, args...))
}

// runs calls f and reports a panic of any kind. It returns whether there was none.
func (c *checker) runs(law string, f func()) (ok bool) {
	defer func() {
		if r := recover(); r != nil {
			c.broken(law, "panic: %v", r)
		}
	}()
	f()
	return true
}

// refused checks that err is a *tenon.Error with a kind.
func (c *checker) refused(law, what string, err error) {
	c.Helper()
	var e *tenon.Error
	switch {
	case err == nil:
		c.broken(law, "%s is accepted", what)
	case !errors.As(err, &e) || e.Kind == nil:
		c.broken(law, "%s is refused with the %T %v, not with a *tenon.Error of a kind", what, err, err)
	}
}

// sameValue compares values; NaN equals NaN.
func sameValue(a, b tenon.Value) bool {
	return reflect.TypeOf(a) == reflect.TypeOf(b) && tensor.Equal(a, b, tensor.EqualOptions{NaN: true})
}
