package op_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// define registers an operation for the time of a test. Unless it says
// otherwise, its result is its first tensor.
func define(t *testing.T, o op.Op) *op.Op {
	t.Helper()
	if o.Infer == nil {
		o.Infer = func(c *op.Call) ([]tenon.Spec, error) { return []tenon.Spec{c.Values()[0].Spec()}, nil }
	}
	if o.Kernel == nil {
		o.Kernel = func(c *op.Call) ([]tensor.Tensor, error) { return []tensor.Tensor{c.Values()[0].(tensor.Tensor)}, nil }
	}
	if o.Results == 0 {
		o.Results = 1
	}
	if o.Axes == op.Unstated {
		o.Statement = op.Statement{Axes: op.Opaque, Why: "made for a test"}
	}
	p := op.Register(&o)
	t.Cleanup(func() { op.Unregister(p) })
	return p
}

// unary and binary are parameters of most operations below.
var (
	unary  = []op.Param{{Name: "x"}}
	binary = []op.Param{{Name: "x", Group: 1}, {Name: "y", Group: 1}}
)

// thrown returns what f throws.
func thrown(f func()) error {
	_, err := tenon.Try(func() int { f(); return 0 })
	return err
}

func TestRegister(t *testing.T) {
	o := define(t, op.Op{Name: "test.reduce_it", Statement: op.Statement{Axes: op.Reduce}, Params: []op.Param{{Name: "x"}, {Name: "axis", Kind: op.Attr}}})
	if got, ok := op.Lookup("test.reduce_it"); !ok || got != o {
		t.Error("Lookup does not find it")
	}
	if o.Func() != "test.ReduceIt" || o.String() != "test.reduce_it" || o.Param("axis") != 1 || o.Param("z") != -1 {
		t.Errorf("names: %s, %s, %d, %d", o.Func(), o, o.Param("axis"), o.Param("z"))
	}
	if !o.IsReduction() || o.IsElementwise() || o.IsAssert() || o.Class.String() != "reduction" {
		t.Error("its class")
	}
	if f := (&op.Op{Name: "squared_difference"}).Func(); f != "ops.SquaredDifference" {
		t.Errorf("got %s", f)
	}
	names := []string{}
	for _, o := range op.All() {
		names = append(names, o.Name)
	}
	if !strings.Contains(strings.Join(names, " "), "test.reduce_it") {
		t.Errorf("All gives %v", names)
	}
	infer := func(*op.Call) ([]tenon.Spec, error) { return nil, nil }
	kernel := func(*op.Call) ([]tensor.Tensor, error) { return nil, nil }
	for name, bad := range map[string]op.Op{
		"no name":          {Infer: infer, Kernel: kernel},
		"no statement":     {Name: "test.a", Infer: infer, Kernel: kernel},
		"no reason":        {Name: "test.a", Infer: infer, Kernel: kernel, Statement: op.Statement{Axes: op.Opaque}},
		"operands beyond":  {Name: "test.a", Infer: infer, Kernel: kernel, Statement: op.Statement{Axes: op.Select, Moves: op.Second}},
		"no kernel":        {Name: "test.a", Infer: infer},
		"no Infer":         {Name: "test.a", Kernel: kernel},
		"a name twice":     {Name: "test.reduce_it", Statement: op.Statement{Axes: op.Map}, Infer: infer, Kernel: kernel},
		"parameters twice": {Name: "test.a", Statement: op.Statement{Axes: op.Map}, Infer: infer, Kernel: kernel, Params: []op.Param{{Name: "x"}, {Name: "x"}}},
		"no parameter":     {Name: "test.a", Statement: op.Statement{Axes: op.Map}, Infer: infer, Kernel: kernel, Params: []op.Param{{}}},
	} {
		if err := thrown(func() { op.Register(&bad) }); !errors.Is(err, tenon.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, ok := op.Lookup("test.a"); ok {
		t.Error("an incomplete operation is registered")
	}
}

func TestBind(t *testing.T) {
	x := tensor.Of([]float32{1, 2})
	o := define(t, op.Op{Name: "test.bind", Params: []op.Param{
		{Name: "x", Group: 1}, {Name: "y", Group: 1, Optional: true}, {Name: "list", Kind: op.Tensors, Optional: true},
		{Name: "axis", Kind: op.Attr, Type: op.IntsType, Optional: true}, {Name: "keep", Kind: op.Attr, Type: op.BoolType, Default: false},
		{Name: "eps", Kind: op.Attr, Type: op.FloatType, Default: 0.5}, {Name: "to", Kind: op.Attr, Type: op.DTypeType, Optional: true, KeyOnly: true},
	}})
	c, err := op.Bind(o, []any{x, 2}, map[string]any{"axis": -1, "eps": 3, "to": dtype.Int8})
	if err != nil {
		t.Fatal(err)
	}
	if c.Value(0) != tenon.Value(x) || c.Tensor(1).DType() != dtype.Float32 || tensor.Item[float32](c.Value(1)) != 2 {
		t.Errorf("the tensors are %v", c.Args[:2])
	}
	if c.Has(2) || c.List(2) != nil || c.Ints(3)[0] != -1 || c.Bool(4) || c.Float(5) != 3 || c.DType(6) != dtype.Int8 || c.Attr("eps") != 3.0 || c.Attr("none") != nil {
		t.Errorf("the arguments are %v", c.Args)
	}
	c, err = op.Bind(o, []any{[]int{1, 2}, nil, []any{x, 1.5}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Tensor(0).DType() != dtype.Int64 || c.Has(1) || len(c.List(2)) != 2 || len(c.Values()) != 3 {
		t.Errorf("the arguments are %v", c.Args)
	}
	var none *tensor.Dense
	for _, bad := range []struct {
		name  string
		args  []any
		named map[string]any
		where string
		text  string
	}{
		{"too many", []any{1, 2, nil, 0, false, 1.0, dtype.Int8, 8}, nil, "", "takes 7 arguments, got 8"},
		{"missing", nil, nil, "x", "is missing"},
		{"nil", []any{nil}, nil, "x", "is nil"},
		{"a nil pointer", []any{none}, nil, "x", "is a nil *tensor.Dense"},
		{"twice", []any{x}, map[string]any{"x": x}, "x", "twice"},
		{"unknown", []any{x}, map[string]any{"z": x}, "z", "there are [x y list axis keep eps to]"},
		{"by name only", []any{x, nil, nil, nil, false, 1.0, dtype.Int8}, nil, "to", "by name only"},
		{"not a tensor", []any{struct{}{}}, nil, "x", "a struct {} is not a tensor"},
		{"not a list", []any{x, nil, x}, nil, "list", "is not a list of tensors"},
		{"nil in a list", []any{x, nil, []tensor.Tensor{x, nil}}, nil, "list[1]", "is nil"},
		{"nil value in a list", []any{x, nil, []tenon.Value{nil}}, nil, "list[0]", "is nil"},
		{"a nil pointer in a list", []any{x, nil, []*tensor.Dense{nil}}, nil, "list[0]", "is a nil *tensor.Dense"},
		{"no tensor in a list", []any{x, nil, []any{x, struct{}{}}}, nil, "list[1]", "is not a tensor"},
		{"a wrong attribute", []any{x}, map[string]any{"keep": 1}, "keep", "got the int 1, want a bool"},
		{"wrong integers", []any{x}, map[string]any{"axis": []string{"a"}}, "axis", "want a list of integers"},
	} {
		_, err := op.Bind(o, bad.args, bad.named)
		var e *tenon.Error
		if !errors.As(err, &e) || e.Kind != tenon.ErrDType || e.Where != bad.where || !strings.Contains(err.Error(), bad.text) || !strings.HasPrefix(err.Error(), "test.Bind") {
			t.Errorf("%s: got %v", bad.name, err)
		}
	}
}

func TestAttributes(t *testing.T) {
	for _, c := range []struct {
		typ  op.Type
		give any
		want func(*op.Call) bool
	}{
		{op.IntType, int32(3), func(c *op.Call) bool { return c.Int(0) == 3 }},
		{op.FloatType, float32(0.5), func(c *op.Call) bool { return c.Float(0) == 0.5 }},
		{op.FloatType, 2, func(c *op.Call) bool { return c.Float(0) == 2 }},
		{op.StringType, "s", func(c *op.Call) bool { return c.Str(0) == "s" }},
		{op.ShapeType, []int{2, -1}, func(c *op.Call) bool { return c.Shape(0).String() == "[2, ?]" }},
		{op.ShapeType, shape.Of(1), func(c *op.Call) bool { return c.Shape(0).String() == "[1]" }},
		{op.ShapeType, []int{-2}, nil},
		{op.IntsType, []int64{1, 2}, func(c *op.Call) bool { return len(c.Ints(0)) == 2 && c.Ints(0)[1] == 2 }},
		{op.IntsType, shape.Of(4, 5), func(c *op.Call) bool { return c.Ints(0)[1] == 5 }},
		{op.IntsType, shape.UnknownRank, nil},
		{op.FloatsType, 1, func(c *op.Call) bool { return c.Floats(0)[0] == 1 }},
		{op.StringsType, "a", func(c *op.Call) bool { return c.Strs(0)[0] == "a" }},
		{op.SpecType, tensor.NewSpec(dtype.Int8, shape.Of()), func(c *op.Call) bool { return c.Args[0].(*tensor.Spec).DType() == dtype.Int8 }},
		{op.AnyType, map[string]int{"k": 1}, func(c *op.Call) bool { return c.Args[0].(map[string]int)["k"] == 1 }},
		{op.IntType, 1.5, nil},
		{op.IntType, "1", nil},
		{op.FloatType, true, nil},
		{op.BoolType, 0, nil},
		{op.StringsType, 1, nil},
		{op.DTypeType, "int8", nil},
		{op.SpecType, 1, nil},
	} {
		o := define(t, op.Op{Name: "test.attr", Params: []op.Param{{Name: "a", Kind: op.Attr, Type: c.typ}}})
		call, err := op.NewCall(o, c.give)
		switch {
		case (err == nil) != (c.want != nil):
			t.Errorf("%v as %d: %v", c.give, c.typ, err)
		case err == nil && !c.want(call):
			t.Errorf("%v as %d is %v", c.give, c.typ, call.Args[0])
		}
		op.Unregister(o)
	}
}

func TestCallsAreCopied(t *testing.T) {
	x, y := tensor.Scalar(1), tensor.Scalar(2)
	o := define(t, op.Op{Name: "test.copy", Params: []op.Param{{Name: "x"}, {Name: "more", Kind: op.Tensors}, {Name: "n", Kind: op.Attr}}})
	c, err := op.NewCall(o, x, []tenon.Value{x, y}, 3)
	if err != nil {
		t.Fatal(err)
	}
	d := c.WithValues([]tenon.Value{y, y, x})
	if d.Value(0) != tenon.Value(y) || d.List(1)[1] != tenon.Value(x) || d.Args[2] != 3 {
		t.Errorf("got %v", d.Args)
	}
	e := c.WithArg(2, 4)
	if c.Value(0) != tenon.Value(x) || c.List(1)[1] != tenon.Value(y) || c.Args[2] != 3 || e.Args[2] != 4 {
		t.Errorf("the call has changed: %v", c.Args)
	}
	if n, ok := c.ConstInts(0); !ok || n[0] != 1 {
		t.Errorf("its elements are %v, %v", n, ok)
	}
}

func TestErrorsOfCalls(t *testing.T) {
	long := make([]tenon.Value, 12)
	for i := range long {
		long[i] = tensor.Scalar(float32(i))
	}
	o := define(t, op.Op{Name: "test.fails", Params: []op.Param{{Name: "x"}, {Name: "list", Kind: op.Tensors}},
		Infer: func(c *op.Call) ([]tenon.Spec, error) {
			return nil, tenon.NewError(tenon.ErrAxis, "", "there is no axis 5")
		}})
	_, err := op.Do(o, tensor.Of([]int8{1}), long)
	if !errors.Is(err, tenon.ErrAxis) || !strings.HasPrefix(err.Error(), "test.Fails(int8[1], [float32[], float32[], float32[], float32[], float32[], float32[], float32[], float32[], … 4 more]): there is no axis 5 (at ") {
		t.Errorf("got %v", err)
	}
	if !strings.Contains(err.Error(), "op_test.go:") {
		t.Errorf("no line of the test: %v", err)
	}
}
