package spectest_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/spectest"
	"github.com/tenonml/tenon/tensor"
)

func TestTensors(t *testing.T) {
	spectest.Laws(t, spectest.Options{},
		tensor.Scalar(float32(1)), tensor.Of([]float64{1, math.NaN()}), tensor.Of([]int8{}, 2, 0), tensor.Of([]string{"a", ""}, 2, 1),
		tensor.Of([]float32{1, 2, 3}), tensor.Of([]float32{1, 2}), tensor.Of([]bool{true}, 1, 1, 1, 1, 1, 1, 1),
		tensor.Of([]int16{1, 2, 3, 4}, 2, 2).(*tensor.Dense).View(0, shape.Of(2, 2), []int{1, 2}))
}

func TestOpaqueValues(t *testing.T) {
	s := tenon.NewOpaque("spectest_test.Unknown", tenon.Tuple{tenon.Int(1)}, []tenon.Field{{Name: "x", Spec: tensor.NewSpec(dtype.Int64, shape.Of(-1))}})
	v, err := s.Assemble([]tenon.Value{tensor.Of([]int{1})})
	if err != nil {
		t.Fatal(err)
	}
	spectest.Laws(t, spectest.Options{Unregistered: true}, v)
}

// span is a well-behaved Value of two vectors, with a unit.
type span struct {
	spec   spanSpec
	lo, hi tenon.Value
}

func (s span) Spec() tenon.Spec    { return s.spec }
func (s span) ends() []tenon.Value { return []tenon.Value{s.lo, s.hi} }

type spanSpec struct {
	shape shape.Shape
	unit  string
}

const spanName = "spectest_test.Span"

func (s spanSpec) TypeName() string { return spanName }
func (s spanSpec) Encode() tenon.Encoding {
	return tenon.Tuple{tenon.Shape{Shape: s.shape}, tenon.Str(s.unit)}
}
func (s spanSpec) Components() []tenon.Field {
	return []tenon.Field{{Name: "lo", Spec: tensor.NewSpec(dtype.Float32, s.shape)}, {Name: "hi", Spec: tensor.NewSpec(dtype.Float32, s.shape)}}
}
func (s spanSpec) Disassemble(v tenon.Value) ([]tenon.Value, error) {
	x, ok := v.(interface{ ends() []tenon.Value })
	if !ok {
		return nil, tenon.NewError(tenon.ErrDType, spanName, "not a span")
	}
	return x.ends(), nil
}
func (s spanSpec) Assemble(c []tenon.Value) (tenon.Value, error) {
	if err := tenon.CheckComponents(s, c); err != nil {
		return nil, err
	}
	return span{s, c[0], c[1]}, nil
}
func (s spanSpec) Batched(n int) (tenon.Spec, error) {
	return spanSpec{s.shape.Insert(0, n), s.unit}, nil
}
func (s spanSpec) Unbatched() (tenon.Spec, error) {
	if s.shape.IsScalar() {
		return nil, tenon.NewError(tenon.ErrShape, spanName, "no outer axis")
	}
	if !s.shape.HasRank() {
		return s, nil
	}
	return spanSpec{s.shape.Remove(0), s.unit}, nil
}

func decodeSpan(e tenon.Encoding) (tenon.Spec, error) {
	t, err := tenon.Elems(e, 2)
	if err != nil {
		return nil, err
	}
	s, err := tenon.As[tenon.Shape](t[0])
	if err != nil {
		return nil, err
	}
	u, err := tenon.As[tenon.Str](t[1])
	return spanSpec{s.Shape, string(u)}, err
}

func init() { tenon.Register(spanName, decodeSpan) }

func newSpan(unit string, x ...float32) span {
	return span{spanSpec{shape.Of(len(x)), unit}, tensor.Of(x), tensor.Of(x)}
}

func TestAGoodType(t *testing.T) {
	spectest.Laws(t, spectest.Options{}, newSpan("m", 1, 2), newSpan("m", 1, 2, 3), newSpan("ft"), newSpan("ft", 1, 2))
}

// fake collects what is reported.
type fake struct {
	testing.TB
	reports []string
}

func (f *fake) Helper() {}
func (f *fake) Errorf(format string, args ...any) {
	f.reports = append(f.reports, fmt.Sprintf(format, args...))
}

// Types that break one law each, by overriding one method of a good one.
type (
	badValue struct {
		span
		spec tenon.Spec
	}
	forgetsUnit  struct{ spanSpec }
	wrongCount   struct{ spanSpec }
	acceptsAll   struct{ spanSpec }
	sameNames    struct{ spanSpec }
	panicsOnNil  struct{ spanSpec }
	neverEqual   struct{ spanSpec }
	subOfAll     struct{ spanSpec }
	mergesAll    struct{ spanSpec }
	forgetsBatch struct{ spanSpec }
	nilSpec      struct{ span }
	plainErrors  struct{ spanSpec }
	changing     struct {
		spanSpec
		n *int
	}
)

func (v badValue) Spec() tenon.Spec { return v.spec }
func (nilSpec) Spec() tenon.Spec    { return nil }

func (s forgetsUnit) Encode() tenon.Encoding {
	return tenon.Tuple{tenon.Shape{Shape: s.shape}, tenon.Str("")}
}
func (s wrongCount) Disassemble(tenon.Value) ([]tenon.Value, error) {
	return []tenon.Value{tensor.Scalar(1)}, nil
}
func (s acceptsAll) Assemble(c []tenon.Value) (tenon.Value, error) {
	return span{s.spanSpec, nil, nil}, nil
}
func (s sameNames) Components() []tenon.Field {
	f := s.spanSpec.Components()
	f[1].Name = "lo"
	return f
}
func (s panicsOnNil) Disassemble(v tenon.Value) ([]tenon.Value, error) {
	_ = v.Spec()
	return s.spanSpec.Disassemble(v)
}
func (s neverEqual) EqualSpec(tenon.Spec) bool                { return false }
func (s subOfAll) SubtypeOf(tenon.Spec) bool                  { return true }
func (s mergesAll) MergeWith(o tenon.Spec) (tenon.Spec, bool) { return o, o != nil }
func (s forgetsBatch) Unbatched() (tenon.Spec, error)         { return s, nil }
func (s forgetsBatch) Batched(n int) (tenon.Spec, error) {
	return forgetsBatch{spanSpec{s.shape.Insert(0, n), s.unit}}, nil
}
func (s plainErrors) Disassemble(tenon.Value) ([]tenon.Value, error) { return nil, fmt.Errorf("plain") }
func (s changing) Encode() tenon.Encoding {
	*s.n++
	return tenon.Tuple{tenon.Shape{Shape: s.shape}, tenon.Str(strings.Repeat("x", *s.n))}
}

func TestBadTypesAreFound(t *testing.T) {
	good := newSpan("m", 1, 2)
	for _, c := range []struct {
		name string
		spec tenon.Spec
		law  string
	}{
		{"an encoding without the unit", forgetsUnit{good.spec}, "assemble: the Spec comes back as"},
		{"a wrong number of components", wrongCount{good.spec}, "disassemble: there are 1 components, the Spec names 2"},
		{"anything assembles", acceptsAll{good.spec}, "assemble: one more component is accepted"},
		{"two components of one name", sameNames{good.spec}, `components: two are called "lo"`},
		{"a panic", panicsOnNil{good.spec}, "components: panic"},
		{"not equal to itself", neverEqual{good.spec}, "reflexive"},
		{"a subtype of everything", subOfAll{good.spec}, "subtype: is not compatible"},
		{"a merge with everything", mergesAll{good.spec}, "merge: is not above both"},
		{"a batch axis that stays", forgetsBatch{good.spec}, "batch: without its axis"},
		{"an error of no kind", plainErrors{good.spec}, "not with a *tenon.Error"},
		{"an encoding that changes", changing{good.spec, new(int)}, "pure: two calls of Encode differ"},
	} {
		f := &fake{TB: t}
		spectest.Laws(f, spectest.Options{}, badValue{good, c.spec}, newSpan("m", 1, 2, 3))
		if all := strings.Join(f.reports, "\n"); !strings.Contains(all, c.law) {
			t.Errorf("%s: no report has %q:\n%s", c.name, c.law, all)
		}
	}
	f := &fake{TB: t}
	spectest.Laws(f, spectest.Options{}, nilSpec{good}, nil)
	if len(f.reports) < 2 {
		t.Errorf("nil Specs and nil values: %v", f.reports)
	}
	f = &fake{TB: t}
	if spectest.Laws(f, spectest.Options{}); len(f.reports) != 1 {
		t.Errorf("no values: %v", f.reports)
	}
}
