package exttypes_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/data/arrowio"
	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/data/protoio"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/internal/generated"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/ops"
	replicas "github.com/tenonml/tenon/scale/dist"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/sparse"
	"github.com/tenonml/tenon/state"
	"github.com/tenonml/tenon/tensor"
)

// service is a generic API that takes any Value.
type service struct {
	name string
	run  func(t *testing.T, r row)
}

// services are the columns of the matrix.
var services = []service{
	{"nest", inNest},
	{"function", inFunction},
	{"cond", inCond},
	{"switch", inSwitch},
	{"while", inWhile},
	{"scan", inScan},
	{"map", inMap},
	{"gofunc", inGoFunc},
	{"gradient", inGradient},
	{"variable", inVariables},
	{"model", inModel},
	{"batched", inBatch},
	{"rows", inRows},
	{"replicas", inReplicas},
	{"batch", inKind(dataset.Dense)},
	{"ragged batch", inKind(dataset.Ragged)},
	{"padded batch", inKind(dataset.Padded)},
	{"interleave", inInterleave},
	{"FromRows", inFromRows},
	{"FromBatches", inFromBatches},
	{"cache", inCache},
	{"share", inShare},
	{"reduce", inReduce},
	{"box", inBox},
	{"file", inFile},
	{"message", inMessage},
	{"JSON", inJSON},
	{"Arrow", inArrow},
	{"serving", inServing},
	{"gob", inGob},
	{"log", inLog},
	{"equality", inEquality},
	{"printing", inPrint},
	{"encode", inEncoding},
	{"concurrency", inGoroutines},
}

// notes say of types what their reasons leave open.
const notes = `
A row partition describes how values are divided into rows and holds no values itself, so there is no batch of row
partitions. Batch the shape of ragged rows, or the rows themselves. A program can hold, pass on and store values of a
type that it does not know (unknown.Type), but it cannot batch them, because only the type knows the static data of a batch.
`

// why are the reasons of cells that are refused, by the names of a type and a service.
var why = map[[2]string]string{}

// TestMatrix runs every service with every type. What a service refuses is an error of the library,
// and docs/services.md has its text.
func TestMatrix(t *testing.T) {
	defer documented(t)
	for _, r := range rows() {
		t.Run(r.name, func(t *testing.T) {
			for _, s := range services {
				t.Run(s.name, func(t *testing.T) {
					cell = [2]string{r.name, s.name}
					if _, err := tenon.Try(func() any { s.run(t, r); return nil }); err != nil {
						t.Error(err)
					}
				})
			}
		})
	}
}

func want(t *testing.T, what string, got, want tenon.Value) {
	t.Helper()
	if !tensor.Equal(got, want, tensor.EqualOptions{}) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

var expand = nest.Options{Expand: true}

func inNest(t *testing.T, r row) {
	type nested struct {
		List []tenon.Value
		Map  map[string]any
	}
	x := nested{[]tenon.Value{r.a, r.b}, map[string]any{"k": r.b}}
	leaves := must(nest.Flatten(x, nest.Options{}))
	if len(leaves) != 3 {
		t.Errorf("got %d leaves, want 3", len(leaves))
	}
	for _, o := range []nest.Options{{}, expand} {
		back := must(nest.Pack(x, must(nest.Flatten(x, o)), o))
		want(t, "first", back.List[0], r.a)
		want(t, "in a map", back.Map["k"].(tenon.Value), r.b)
		if err := nest.Same(x, back, o); err != nil {
			t.Error(err)
		}
	}
	mapped := must(nest.Map(func(l []any) (any, error) { return l[0], nil }, expand, r.a))
	want(t, "mapped", mapped, r.a)
}

func inFunction(t *testing.T, r row) {
	type pair struct{ First, Second tenon.Value }
	swap := function.New(func(p pair) (pair, tenon.Value) { return pair{p.Second, p.First}, p.First })
	for range 2 {
		p, x := swap.Call(pair{r.a, r.b})
		want(t, "first", p.First, r.b)
		want(t, "second", p.Second, r.a)
		want(t, "result", x, r.a)
	}
	if text := swap.Explain(); !strings.Contains(text, ": 1 traces") {
		t.Errorf("two calls with the same Specs: %s", text)
	}
}

func inCond(t *testing.T, r row) {
	f := function.New(func(p tensor.Tensor, a, b tenon.Value) tenon.Value {
		return control.Cond(p, func() tenon.Value { return a }, func() tenon.Value { return b })
	})
	want(t, "then", f.Call(tensor.Scalar(true), r.a, r.b), r.a)
	want(t, "else", f.Call(tensor.Scalar(false), r.a, r.b), r.b)
}

func inSwitch(t *testing.T, r row) {
	f := function.New(func(i tensor.Tensor, a, b tenon.Value) tenon.Value {
		return control.Switch(i, func() tenon.Value { return a }, func() tenon.Value { return b }, func() tenon.Value { return a })
	})
	for i, x := range []tenon.Value{r.a, r.b, r.a} {
		want(t, fmt.Sprint("branch ", i), f.Call(tensor.Scalar(int64(i)), r.a, r.b), x)
	}
}

func inWhile(t *testing.T, r row) {
	type state struct {
		A, B tenon.Value
		N    tensor.Tensor
	}
	loop := func(s state) state {
		return control.While(func(s state) tensor.Tensor { return ops.Less(s.N, 3) },
			func(s state) state { return state{s.B, s.A, ops.Add(s.N, 1)} }, s)
	}
	start := state{r.a, r.b, tensor.Scalar(int64(0))}
	for name, f := range map[string]func(state) state{"eager": loop, "traced": function.New(loop).Call} {
		end := f(start)
		want(t, name, end.A, r.b)
		want(t, name, end.B, r.a)
	}
}

func inScan(t *testing.T, r row) {
	scan := func(a, b tenon.Value, xs tensor.Tensor) (tenon.Value, tensor.Tensor) {
		type carry struct{ A tenon.Value }
		c, ys := control.Scan(func(c carry, x tensor.Tensor) (carry, tensor.Tensor) { return c, ops.Mul(x, 2) }, carry{a}, xs)
		return c.A, ys
	}
	xs := tensor.Tensor(tensor.Vector([]float64{1, 2, 3}))
	for name, f := range map[string]func(a, b tenon.Value, xs tensor.Tensor) (tenon.Value, tensor.Tensor){"eager": scan, "traced": function.New(scan).Call} {
		c, ys := f(r.a, r.b, xs)
		want(t, name, c, r.a)
		want(t, name, ys, tensor.Vector([]float64{2, 4, 6}))
	}
}

// inMap maps over a batch of the values, or, where the type has none, over numbers
// with the value from outside.
func inMap(t *testing.T, r row) {
	batch, err := ext.Stack(r.a, r.b)
	if err == nil {
		same := control.Map(func(x tenon.Value) tenon.Value { return x }, batch)
		for i, x := range []tenon.Value{r.a, r.b} {
			got, err := ext.Row(same, i)
			if err != nil {
				t.Fatal(err)
			}
			sameParts(t, fmt.Sprint("row ", i), got, x)
		}
		return
	}
	refused(t, "a batch", err)
	xs := tensor.Tensor(tensor.Vector([]float64{1, 2}))
	seen := r.b
	got := control.Map(func(x tensor.Tensor) tensor.Tensor { seen = r.a; return ops.Neg(x) }, xs)
	want(t, "beside numbers", got, ops.Neg(xs))
	want(t, "from outside", seen, r.a)
}

// plain returns the value in the form in which rows of a batch come back: coordinates for
// a matrix by rows or columns, strings for a dictionary of strings.
func plain(v tenon.Value) tenon.Value {
	if m, ok := v.(*sparse.Matrix); ok {
		return must(m.ToCOO())
	}
	if c, ok := v.(tensor.Concreter); ok {
		if t, err := c.Concrete(); err == nil {
			return t
		}
	}
	return v
}

// sameParts compares the tensors that values are made of: a row of a batch may
// have another Spec than what was stacked, such as more that is known.
func sameParts(t *testing.T, what string, got, want tenon.Value) {
	t.Helper()
	a, b := must(nest.Flatten(plain(got), expand)), must(nest.Flatten(plain(want), expand))
	if fmt.Sprint(a...) != fmt.Sprint(b...) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// inRows takes a batch apart again; a type without batches refuses it.
func inRows(t *testing.T, r row) {
	batch, err := ext.Stack(r.a, r.b)
	if err != nil {
		refused(t, "a batch", err)
		return
	}
	if n, err := ext.Rows(batch); err != nil || n != 2 {
		t.Errorf("there are %d rows, %v", n, err)
	}
	for i, x := range []tenon.Value{r.b, r.a} {
		back := must(ext.Row(must(ext.Gather(batch, []int64{1, 0})), i))
		sameParts(t, fmt.Sprint("row ", i), back, x)
	}
	twice := must(ext.Concat(batch, must(ext.Slice(batch, 1, 2))))
	sameParts(t, "joined", must(ext.Row(twice, 2)), r.b)
}

// inKind makes batches of elements.
func inKind(kind dataset.Kind) func(*testing.T, row) {
	return func(t *testing.T, r row) {
		list, err := dataset.FromSlice([]tenon.Value{r.a, r.b, r.a}).Batch(2, dataset.BatchOptions{Kind: kind}).Collect(context.Background())
		if err != nil {
			refused(t, "the batch", err)
			if _, err := ext.Stack(r.a, r.b); err == nil && kind == dataset.Ragged {
				t.Errorf("values that stack are no ragged batch: %v", err)
			}
			return
		}
		if len(list) != 2 {
			t.Errorf("%d batches", len(list))
		}
		if kind != dataset.Ragged {
			return // padding is part of the rows
		}
		for i, x := range []tenon.Value{r.a, r.b} {
			if got := must(ext.Row(list[0], i)); !tensor.Equal(plain(got), plain(x), tensor.EqualOptions{}) {
				t.Errorf("row %d is %v, want %v", i, got, x)
			}
		}
	}
}

// batchOf stacks the values of a row, or says why the type has no batches.
func batchOf(t *testing.T, r row) (tenon.Value, bool) {
	batch, err := ext.Stack(r.a, r.b)
	if err != nil {
		refused(t, "a batch", err)
	}
	return batch, err == nil
}

func elementsAre(t *testing.T, d *dataset.Dataset[tenon.Value], want ...tenon.Value) {
	list, err := d.Collect(context.Background())
	if err != nil || len(list) != len(want) {
		t.Fatalf("%d elements, %v", len(list), err)
	}
	for i, x := range want {
		sameParts(t, fmt.Sprint("element ", i), list[i], x)
	}
}

func inInterleave(t *testing.T, r row) {
	elementsAre(t, dataset.Interleave(dataset.FromSlice([]tenon.Value{r.a, r.a}), dataset.FromSlice([]tenon.Value{r.b})), r.a, r.b, r.a)
	if batch, ok := batchOf(t, r); ok {
		elementsAre(t, dataset.Interleave(dataset.FromRows(batch), dataset.FromRows(batch)), r.a, r.a, r.b, r.b)
	}
}

func inFromRows(t *testing.T, r row) {
	if batch, ok := batchOf(t, r); ok {
		elementsAre(t, dataset.FromRows(batch), r.a, r.b)
	}
}

func inFromBatches(t *testing.T, r row) {
	if batch, ok := batchOf(t, r); ok {
		elementsAre(t, dataset.FromBatches(func() iter.Seq2[tenon.Value, error] {
			return func(yield func(tenon.Value, error) bool) {
				for range 2 {
					if !yield(batch, nil) {
						return
					}
				}
			}
		}), r.a, r.b, r.a, r.b)
	}
}

// inReplicas gives each of two replicas a share of the rows, and joins what they return.
func inReplicas(t *testing.T, r row) {
	batch, ok := batchOf(t, r)
	if !ok {
		return
	}
	work := function.New(func(x replicas.PerReplica[tenon.Value]) replicas.PerReplica[tenon.Value] { return x })
	joined := must(work.Call(must(replicas.Divide(batch, 2))).Join())
	for i, x := range []tenon.Value{r.a, r.b} {
		sameParts(t, fmt.Sprint("row ", i), must(ext.Row(joined, i)), x)
	}
}

// inBox encodes the value as tensors, where its type can, and back.
func inBox(t *testing.T, r row) {
	b, ok := r.a.Spec().(tenon.Boxer)
	if !ok {
		why[cell] = "the type has no form as tensors: its Spec is no tenon.Boxer, which nothing but this asks for"
		return
	}
	boxed, err := b.Box(r.a, 0)
	if err != nil {
		refused(t, "boxing", err)
		return
	}
	want(t, "unboxed", must(b.Unbox(boxed)), r.a)
}

// inFile writes values and reads them by their Specs.
func inFile(t *testing.T, r row) {
	name := filepath.Join(t.TempDir(), "values")
	tenon.Throw(saved.Write(name, map[string]any{"a": r.a, "b": []any{r.b}}))
	back := must(saved.Read(name, map[string]any{"a": r.a.Spec(), "b": []any{r.b.Spec()}}))
	want(t, "a", back["a"].(tenon.Value), r.a)
	want(t, "b", back["b"].([]any)[0].(tenon.Value), r.b)
}

// inMessage writes the Spec as TensorFlow's messages have it.
func inMessage(t *testing.T, r row) {
	b, err := protoio.AppendStructure(nil, tenon.SpecOf{Spec: r.a.Spec()}, protoio.Options{})
	if err != nil {
		refused(t, "the Spec", err)
		return
	}
	e, err := protoio.DecodeStructure(b, protoio.Options{})
	if err != nil {
		refused(t, "reading", err)
		return
	}
	back, ok := e.(tenon.SpecOf)
	if !ok || back.Spec.TypeName() != r.a.Spec().TypeName() {
		t.Fatalf("reads back as %v", e)
	}
	if v, err := back.Spec.Assemble(must(r.a.Spec().Disassemble(r.a))); err == nil {
		sameParts(t, "the value", v, r.a)
	}
}

func inJSON(t *testing.T, r row) {
	b, err := tensor.AppendJSON(nil, r.a)
	if err != nil {
		refused(t, "the value", err)
		return
	}
	back, err := tensor.ParseJSON(b, r.a.Spec())
	if err != nil {
		refused(t, "reading", err)
		return
	}
	if again := must(tensor.AppendJSON(nil, back)); !bytes.Equal(again, b) || !tenon.Compatible(back.Spec(), r.a.Spec()) {
		t.Errorf("%s reads back as %v", b, back)
	}
}

func inArrow(t *testing.T, r row) {
	var b bytes.Buffer
	if err := arrowio.Encode(&b, r.a, arrowio.WriteOptions{}); err != nil {
		refused(t, "the value", err)
		return
	}
	back := must(arrowio.Decode(b.Bytes(), arrowio.ReadOptions{}))
	want(t, "the value", back, r.a)
}

var cell [2]string // that is tested now

// refused checks that a refusal is an error of the library, and notes it.
func refused(t *testing.T, what string, err error) {
	t.Helper()
	var e *tenon.Error
	if !errors.As(err, &e) || e.Kind == nil {
		t.Errorf("%s is refused with the %T %v", what, err, err)
		return
	}
	why[cell] = e.Msg
	if e.Hint != "" {
		why[cell] += "; " + e.Hint
	}
}

// documented compares docs/services.md with what was found, or writes it.
func documented(t *testing.T) {
	if t.Failed() {
		return
	}
	var b strings.Builder
	b.WriteString(`# Services and types

Generated by ` + "`go test ./examples/exttypes -run Matrix -update`" + `. The tests use each type of Value with each service
that accepts any Value. A dot means that the service supports the type; a number refers to the error, listed below, with which
the service rejects it.

`)
	b.WriteString("| type |")
	for _, s := range services {
		b.WriteString(" " + s.name + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(services)) + "\n")
	var reasons []string
	for _, r := range rows() {
		b.WriteString("| " + r.name + " |")
		for _, s := range services {
			reason, ok := why[[2]string{r.name, s.name}]
			k := slices.Index(reasons, reason)
			if ok && k < 0 {
				k, reasons = len(reasons), append(reasons, reason)
			}
			if ok {
				fmt.Fprintf(&b, " %d |", k+1)
			} else {
				b.WriteString(" · |")
			}
		}
		b.WriteString("\n")
	}
	b.WriteString("\nThe errors:\n\n")
	for i, reason := range reasons {
		fmt.Fprintf(&b, "%d. %s\n", i+1, strings.ReplaceAll(reason, "<", "\\<"))
	}
	b.WriteString(notes)
	generated.File(t, filepath.Join("..", "..", "docs", "services.md"), b.String(), "go test ./examples/exttypes -run Matrix -update")
}

func inGoFunc(t *testing.T, r row) {
	f := function.New(func(a, b tenon.Value) tenon.Value {
		return control.GoFunc(func(p [2]tenon.Value) ([]tenon.Value, error) {
			return []tenon.Value{p[1]}, nil
		}, []tenon.Spec{merged(r)}, [2]tenon.Value{a, b})[0]
	})
	sameParts(t, "result", f.Call(r.a, r.b), r.b)
}

func merged(r row) tenon.Spec {
	m, ok := tenon.Merge(r.a.Spec(), r.b.Spec())
	if !ok {
		tenon.Throw(fmt.Errorf("%s and %s do not merge", tenon.String(r.a.Spec()), tenon.String(r.b.Spec())))
	}
	return m
}

// inGradient differentiates the sum of squares of all floating components: the
// gradient has the structure of the value, twice the floating components, and the
// others as they are.
func inGradient(t *testing.T, r row) {
	square := func(x tenon.Value) tensor.Tensor {
		sum := tensor.Tensor(tensor.Scalar(0.0))
		for _, l := range must(nest.Flatten(x, expand)) {
			if p := l.(tensor.Tensor); p.DType().IsFloat() {
				sum = ops.Add(sum, ops.Sum(ops.Square(p)))
			}
		}
		return sum
	}
	floats := false
	twice := must(nest.Map(func(l []any) (any, error) {
		if p := l[0].(tensor.Tensor); p.DType().IsFloat() {
			floats = true
			return ops.Mul(p, 2), nil
		}
		return l[0], nil
	}, expand, r.a))
	g, err := tenon.Try(func() tenon.Value { return grad.Of(square)(r.a) })
	if !floats {
		refused(t, "a value with nothing to differentiate", err)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	want(t, "gradient", g, twice)
	traced := function.New(func(x tenon.Value) tenon.Value { return grad.Of(square)(x) })
	want(t, "traced gradient", traced.Call(r.a), twice)
}

// inVariables holds the value in a variable, which a function reads and replaces.
func inVariables(t *testing.T, r row) {
	held, err := state.NewOf(r.a)
	if err != nil {
		refused(t, "a variable", err)
		return
	}
	want(t, "held", must(held.Value()), r.a)
	replace := function.New(func(x tenon.Value) (tenon.Value, error) {
		old, err := held.Value()
		if err != nil {
			return nil, err
		}
		return old, held.Assign(x)
	})
	next := r.b
	if !tenon.Compatible(r.b.Spec(), r.a.Spec()) {
		next = r.a // a variable keeps its Spec
	}
	sameParts(t, "read", must(replace.Call(next)), r.a)
	sameParts(t, "replaced", must(held.Value()), next)
	if err := held.Update(func(tenon.Value) (tenon.Value, error) { return r.a, nil }); err != nil {
		t.Error(err)
	}
	want(t, "updated", must(held.Value()), r.a)
}

func inBatch(t *testing.T, r row) {
	s := r.a.Spec()
	batch, stackErr := ext.Stack(r.a, r.b)
	b, ok := s.(tenon.Batcher)
	if !ok {
		if stackErr != nil {
			refused(t, "a batch of a type without one", stackErr)
			return
		}
		sameParts(t, "row 1", must(ext.Row(batch, 1)), r.b)
		return
	}
	for _, n := range []int{shape.Unknown, 0, 3} {
		many, err := b.Batched(n)
		if err != nil {
			t.Fatal(err)
		}
		one, err := many.(tenon.Batcher).Unbatched()
		if err != nil || !tenon.Compatible(one, s) {
			t.Errorf("a row of %s is %s (%v), want %s", tenon.String(many), tenon.String(one), err, tenon.String(s))
		}
	}
	if stackErr != nil {
		refused(t, "stacking", stackErr)
		return
	}
	many := must(merged(r).(tenon.Batcher).Batched(2))
	if many.TypeName() == batch.Spec().TypeName() && !tenon.Compatible(many, batch.Spec()) {
		t.Errorf("the batch is %s, want %s", tenon.String(batch.Spec()), tenon.String(many))
	}
	for i, x := range []tenon.Value{r.a, r.b} {
		sameParts(t, fmt.Sprint("row ", i), must(ext.Row(batch, i)), x)
	}
}

func inEquality(t *testing.T, r row) {
	again := must(nest.Pack[tenon.Value](r.a, must(nest.Flatten(r.a, expand)), expand))
	want(t, "again", again, r.a)
	if tensor.Equal(r.a, r.b, tensor.EqualOptions{}) {
		t.Errorf("%v and %v are equal", r.a, r.b)
	}
	if !tenon.Equal(again.Spec(), r.a.Spec()) || tenon.Key(again.Spec()) != tenon.Key(r.a.Spec()) {
		t.Errorf("the Spec %s is not equal to itself", tenon.String(r.a.Spec()))
	}
}

func inPrint(t *testing.T, r row) {
	for _, text := range []string{fmt.Sprint(r.a), fmt.Sprintf("%v", r.a), tenon.String(r.a.Spec()), tenon.Text(r.a.Spec())} {
		if text == "" || strings.Contains(text, "%!") || strings.Contains(text, "0x") {
			t.Errorf("prints as %q", text)
		}
	}
	if fmt.Sprint(r.a) == fmt.Sprint(r.b) {
		t.Errorf("two values print as %v", r.a)
	}
}

func inEncoding(t *testing.T, r row) {
	b := tenon.AppendBinary(nil, r.a.Spec())
	s, rest, err := tenon.DecodeBinary(b)
	if err != nil || len(rest) > 0 || !tenon.Equal(s, r.a.Spec()) {
		t.Fatalf("reads back as %s, %v", tenon.String(s), err)
	}
	if again := tenon.AppendBinary(nil, s); !bytes.Equal(again, b) {
		t.Error("the binary form changes when it is read and written")
	}
	fromText, err := tenon.ParseSpec(tenon.Text(r.a.Spec()))
	if err != nil || !tenon.Equal(fromText, s) {
		t.Errorf("the text reads back as %s, %v", tenon.String(fromText), err)
	}
	v, err := nest.Pack[any](s, must(nest.Flatten(r.a, expand)), expand)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "value", v.(tenon.Value), r.a)
	if err := ext.Check(v.(tenon.Value)); err != nil {
		t.Errorf("the value that was read is refused: %v", err)
	}
}

func inGoroutines(t *testing.T, r row) {
	f := function.New(func(a, b tenon.Value) (tenon.Value, tenon.Value) { return b, a })
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			_, err := tenon.Try(func() any {
				b, a := f.Call(r.a, r.b)
				want(t, "first", a, r.a)
				want(t, "second", b, r.b)
				want(t, "again", must(nest.Pack[tenon.Value](r.a, must(nest.Flatten(r.a, expand)), expand)), r.a)
				_ = fmt.Sprint(r.a) + tenon.Key(r.a.Spec())
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}
