package named_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/optable"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/tensor"
)

// An operation of the table is called with its inputs stored in every order.
type operation struct {
	name string
	in   []T
	f    func(x []T) []T
}

func single(name string, f func(x []T) T, in ...T) operation {
	return operation{name, in, func(x []T) []T { return []T{f(x)} }}
}

// wave returns numbers that are all different and in no order.
func wave(dims ...named.Sized) T {
	x := count(dims...)
	return named.Map(ops.Sin, named.Add(named.Mul(x, 1.7), 0.3))
}

func ints(below int, dims ...named.Sized) T {
	return named.Cast(named.Map2(ops.Mod, named.Mul(count(dims...), 5), float64(below)), dtype.Int64)
}

func table() []operation {
	key2 := ops.RandomKey(7)
	x := wave(Batch{}.Of(2), Seq{}.Of(3), Rep{}.Of(4))
	y := wave(Batch{}.Of(2), Rep{}.Of(4), Kq{}.Of(3))
	w := wave(Rep{}.Of(4), Kq{}.Of(3))
	sub := wave(Seq{}.Of(3), Batch{}.Of(2))
	mask := named.Map2(ops.Greater, sub, 0.0)
	im := wave(Batch{}.Of(2), Height{}.Of(4), Width{}.Of(3), Channel{}.Of(2))
	kernel := wave(Window{}.Of(2), Channel{}.Of(2), Val{}.Of(3))
	table := wave(Vocab{}.Of(5), Rep{}.Of(4))
	ids := ints(5, Batch{}.Of(2), Seq{}.Of(3))
	classes := wave(Batch{}.Of(2), Seq{}.Of(3), Vocab{}.Of(5))
	k := wave(Batch{}.Of(2), KeySeq{}.Of(5), Rep{}.Of(4))
	v := wave(KeySeq{}.Of(5), Batch{}.Of(2), Val{}.Of(2))
	see := named.Map2(ops.Less, wave(Seq{}.Of(3), KeySeq{}.Of(5)), 0.5)
	scale, offset := wave(Rep{}.Of(4)), wave(Rep{}.Of(4), Batch{}.Of(2))

	list := []operation{
		single("Dot", func(x []T) T { return named.Dot[Rep](x[0], x[1]) }, x, w),
		single("Contract", func(x []T) T { return named.Contract[Rep](x[0], x[1]) }, x, y),
		single("Contract of three", func(x []T) T { return named.By(Rep{}, Kq{}).Contract(x[0], x[1], x[2]) }, x, w, wave(Kq{}.Of(3), Batch{}.Of(2))),
		single("Contract over all", func(x []T) T { return named.By(Rep{}, Batch{}).Contract(x[0], x[1]) }, x, y),
		single("Contract over none", func(x []T) T { return named.By().Contract(x[0], x[1]) }, x, w),
		single("Contract of sums", func(x []T) T { return named.Contract[Rep](named.Sum[Seq](x[0]), named.Sum[Kq](x[1])) }, x, y),
		single("Einsum that sums what one has", func(x []T) T { return named.Einsum("Batch Rep Seq, Batch Rep Kq -> Batch", x[0], x[1]) }, x, y),
		single("Einsum", func(x []T) T { return named.Einsum(texts(x)+" -> Batch Seq Kq", x[0], x[1]) }, x, y),
		single("Einsum", func(x []T) T { return named.Einsum("... Rep, ... Rep Kq -> Kq ...", x[0], x[1]) }, x, y),
		single("Add", func(x []T) T { return named.Add(x[0], x[1]) }, x, sub),
		single("Sub", func(x []T) T { return named.Sub(x[0], x[1]) }, sub, x),
		single("Mul", func(x []T) T { return named.Mul(x[0], x[1]) }, x, x),
		single("Div", func(x []T) T { return named.Div(x[0], x[1]) }, x, sub),
		single("Pow", func(x []T) T { return named.Pow(named.Add(x[0], 2), x[1]) }, x, sub),
		single("Maximum", func(x []T) T { return named.Maximum(x[0], x[1]) }, x, sub),
		single("Minimum", func(x []T) T { return named.Minimum(x[0], x[1]) }, x, sub),
		single("SquaredDifference", func(x []T) T { return named.SquaredDifference(x[0], x[1]) }, x, sub),
		single("Map", func(x []T) T { return named.Map(ops.Tanh, x[0]) }, x),
		single("Map2", func(x []T) T { return named.Map2(ops.Less, x[0], x[1]) }, x, sub),
		single("Outer", func(x []T) T { return named.Outer(ops.Sub, x[0], x[1]) }, x, w),
		single("BroadcastTo", func(x []T) T {
			return named.BroadcastTo(x[0], Kq{}.Of(2), Batch{}.Of(2), Rep{}.Of(3), Seq{}.Of(3))
		}, sub),
		single("Where", func(x []T) T { return named.Where(x[0], x[1], x[2]) }, mask, x, sub),
		single("Masked", func(x []T) T { return named.Masked(x[0], x[1], -1) }, x, mask),
		single("Cast", func(x []T) T { return named.Cast(x[0], dtype.Float32) }, x),
		single("Softmax", func(x []T) T { return named.Softmax[Seq](x[0]) }, x),
		single("Softmax over two", func(x []T) T { return named.By(Seq{}, Batch{}).Softmax(x[0]) }, x),
		single("LogSoftmax", func(x []T) T { return named.LogSoftmax[Rep](x[0]) }, x),
		single("LayerNorm", func(x []T) T { return named.LayerNorm[Rep](x[0], x[1], x[2], 1e-5) }, x, scale, offset),
		single("LayerNorm over two", func(x []T) T { return named.By(Rep{}, Seq{}).LayerNorm(x[0], nil, nil, 1e-5) }, x),
		single("RMSNorm", func(x []T) T { return named.RMSNorm[Rep](x[0], x[1], 1e-5) }, x, scale),
		single("Norm", func(x []T) T { return named.By(Seq{}, Batch{}).Norm(x[0], 3) }, x),
		single("Shift", func(x []T) T { return named.Shift[Seq](x[0], 1) }, x),
		single("LogCumSumExp", func(x []T) T { return named.LogCumSumExp[Seq](x[0], named.CumOptions{Reverse: true}) }, x),
		single("CumSum", func(x []T) T { return named.CumSum[Seq](x[0], named.CumOptions{Exclusive: true}) }, x),
		single("CumProd", func(x []T) T { return named.CumProd[Seq](x[0], named.CumOptions{Reverse: true}) }, x),
		single("CumMax", func(x []T) T { return named.CumMax[Seq](x[0], named.CumOptions{}) }, x),
		single("CumMin", func(x []T) T { return named.CumMin[Seq](x[0], named.CumOptions{}) }, x),
		single("Sort", func(x []T) T { return named.Sort[Seq](x[0], named.SortOptions{}) }, x),
		single("ArgSort", func(x []T) T { return named.ArgSort[Rep](x[0], named.SortOptions{Descending: true}) }, x),
		{"TopK", []T{x}, func(x []T) []T { v, i := named.TopK[Rep](x[0], 2); return []T{v, i} }},
		single("Reverse", func(x []T) T { return named.By(Seq{}, Rep{}).Reverse(x[0]) }, x),
		single("Roll", func(x []T) T { return named.Roll[Rep](x[0], 3) }, x),
		single("Stack", func(x []T) T { return named.Stack[Head](x[0], x[1]) }, x, named.Mul(x, 2)),
		single("Concat", func(x []T) T { return named.Concat[Seq](x[0], x[1]) }, x, named.Mul(x, 2)),
		{"Unstack", []T{x}, func(x []T) []T { return named.Unstack[Seq](x[0]) }},
		{"Pieces", []T{x}, func(x []T) []T { return named.Pieces[Rep](x[0], 1, 3) }},
		single("Merge", func(x []T) T { return named.By(Rep{}, Batch{}).Merge(x[0], Val{}) }, x),
		single("Split", func(x []T) T { return named.Split[Rep](x[0], Head{}.Of(2), Val{}.Of(-1)) }, x),
		single("Reshape", func(x []T) T { return named.By(Rep{}, Seq{}).Reshape(x[0], Head{}.Of(6), Val{}.Of(2)) }, x),
		single("ExpandDims", func(x []T) T { return named.ExpandDims(x[0], Head{}) }, x),
		single("Squeeze", func(x []T) T { return named.Squeeze[Head](x[0]) }, wave(Seq{}.Of(2), Head{}.Of(1), Rep{}.Of(2))),
		single("Index", func(x []T) T { return named.Index[Seq](x[0], -1) }, x),
		single("Index of a range", func(x []T) T { return named.Index[Rep](x[0], key.Range(nil, nil, -2)) }, x),
		single("Take", func(x []T) T { return named.Take[Vocab](x[0], x[1]) }, table, ids),
		single("Take with a batch", func(x []T) T { return named.Take[Vocab](x[0], x[1]) }, classes, ids),
		single("ScatterAdd", func(x []T) T { return named.ScatterAdd[Vocab](x[0], x[1], x[2]) }, table, ids, x),
		single("ScatterAdd with a batch", func(x []T) T { return named.ScatterAdd[Vocab](x[0], x[1], x[2]) }, classes, ids, sub),
		single("ScatterUpdate", func(x []T) T { return named.ScatterUpdate[Vocab](x[0], x[1], x[2]) }, classes, ids, sub),
		single("ScatterMax", func(x []T) T { return named.ScatterMax[Vocab](x[0], x[1], x[2]) }, table, ids, x),
		single("ScatterMin", func(x []T) T { return named.ScatterMin[Vocab](x[0], x[1], x[2]) }, table, ids, x),
		single("OneHot", func(x []T) T { return named.OneHot[Vocab](x[0], 5, named.OneHotOptions{}) }, ids),
		single("Pad", func(x []T) T { return named.Pad[Seq](x[0], 1, 2, named.PadOptions{Value: 0.5}) }, x),
		single("Conv", func(x []T) T { return named.Conv[Height, Window, Channel](x[0], x[1], named.ConvOptions{Same: true}) }, im, kernel),
		single("Conv over two", func(x []T) T {
			return named.Conv[Spatial, Windows, Channel](x[0], x[1], named.ConvOptions{Stride: 2, Before: 1})
		}, im, wave(Window{}.Of(2), Window2{}.Of(3), Channel{}.Of(2), Val{}.Of(2))),
		single("CrossEntropy", func(x []T) T { return named.CrossEntropy[Vocab](x[0], x[1]) }, classes, ids),
		single("CrossEntropy of distributions", func(x []T) T { return named.CrossEntropy[Vocab](x[0], x[1]) }, classes, named.Softmax[Vocab](classes)),
		single("Dropout", func(x []T) T { return named.Dropout(key2, x[0], 0.4, Seq{}) }, x),
		single("Attention", func(x []T) T {
			return named.Attention[KeySeq, Rep](x[0], x[1], x[2], named.AttentionOptions{Mask: x[3]})
		}, x, k, v, see),
		single("Rename", func(x []T) T { return named.Rename[Seq, Foo](x[0]) }, x),
		single("Renaming", func(x []T) T { return named.Renaming(x[0], map[named.Name]named.Name{Seq{}: Batch{}, Batch{}: Seq{}}) }, x),
		single("Order", func(x []T) T { return named.Order(x[0], Rep{}, Batch{}, Seq{}) }, x),
		single("From", func(x []T) T { return named.From(x[0]) }, x),
		single("MapUnnamed", func(x []T) T {
			return named.MapUnnamed(func(x tensor.Tensor) tensor.Tensor { return ops.CumSum(x, 0, ops.CumOptions{}) }, x[0], []named.Name{Seq{}, Rep{}}, Foo{}, Rep{})
		}, x),
		single("Lift", func(x []T) T {
			return named.Lift[Batch](func(x T) T { return named.Dot[Rep](x, named.Rename[Seq, KeySeq](x)) })(x[0])
		}, x),
		single("LiftOver", func(x []T) T {
			return named.LiftOver(named.By(Batch{}, Seq{}), func(x, y T) T { return named.Add(named.Softmax[Rep](x), y) })(x[0], x[1])
		}, x, scale),
		single("Unnamed", func(x []T) T { return named.Of(named.Unnamed(x[0], Rep{}, Batch{}, Seq{}), Rep{}, Batch{}, Seq{}) }, x),
		single("Bind", func(x []T) T { return named.Bind[seqRep](x[0]).Tensor }, wave(Seq{}.Of(2), Rep{}.Of(3))),
		single("As", func(x []T) T { return named.As[Foo](named.Bind[seqRep](x[0]).Rep).Tensor() }, wave(Seq{}.Of(2), Rep{}.Of(3))),
		single("Handle", func(x []T) T {
			return named.Bind[seqRep](named.Index[Batch](x[0], 0)).Rep.Dot(named.Bind[repKq](x[1]).Rep)
		}, x, w),
	}
	for name, f := range reductions() {
		list = append(list,
			single(name, func(x []T) T { return f(named.By(Rep{}), x[0]) }, x),
			single(name+" over two", func(x []T) T { return f(named.By(Rep{}, Batch{}), x[0]) }, x),
			single(name+" over all", func(x []T) T { return f(x[0].Dims(), x[0]) }, x),
			single(name+" over none", func(x []T) T { return f(named.By(), x[0]) }, x))
	}
	return append(list,
		single("ArgMax", func(x []T) T { return named.ArgMax[Rep](x[0]) }, x),
		single("ArgMin", func(x []T) T { return named.ArgMin[Seq](x[0]) }, x),
		single("Any", func(x []T) T { return named.Any[Seq](x[0]) }, mask),
		single("All", func(x []T) T { return named.All[Seq](x[0]) }, mask),
	)
}

// reductions are the methods of named.Dims that follow from the statements of reductions of numbers
// to numbers, by name.
func reductions() map[string]func(named.Dims, tenon.Value) T {
	all := map[string]func(named.Dims, tenon.Value) T{}
	for _, o := range op.All() {
		m, ok := reflect.TypeFor[named.Dims]().MethodByName(strings.TrimPrefix(o.Func(), "ops."))
		if !ok || o.Axes != op.Reduce || o.Places != 0 || o.Monoid == op.Anys || o.Monoid == op.Alls {
			continue
		}
		if f, ok := m.Func.Interface().(func(named.Dims, tenon.Value) T); ok {
			all[m.Name] = f
		}
	}
	return all
}

// questions are the operations whose answer is a Go value, made a tensor.
func questions() []operation {
	x := wave(Batch{}.Of(2), Seq{}.Of(3), Rep{}.Of(4))
	return []operation{
		single("Size", func(x []T) T {
			return named.Scalar(x[0].Size(Rep{}) + named.Bind[seqRep](named.Index[Batch](x[0], 1)).Seq.Size())
		}, x),
		single("GShape", func(x []T) T { return named.Scalar(x[0].GShape()["Rep"]) }, x),
		single("Has", func(x []T) T { return named.Scalar(x[0].Has(Rep{}) && !x[0].Has(Foo{})) }, x),
		single("IsRagged", func(x []T) T { return named.Scalar(x[0].IsRagged(Rep{})) }, x),
		single("Equal", func(x []T) T { return named.Scalar(named.Equal(x[0], x[1], tensor.EqualOptions{})) }, x, named.Order(x, Rep{}, Seq{}, Batch{})),
		single("Fits", func(x []T) T { return named.Scalar(named.Fits[seqRep](x[0])) }, wave(Seq{}.Of(2), Rep{}.Of(3))),
	}
}

// texts lists the dimensions of tensors in the order in which they are stored.
func texts(xs []T) string {
	var terms []string
	for _, x := range xs {
		terms = append(terms, strings.ReplaceAll(x.Dims().String(), ",", ""))
	}
	return strings.Join(terms, ", ")
}

// permutations calls f with the tensor stored in every order, as a view and compactly.
func permutations(x T, f func(T)) {
	names := x.Dims().Names()
	var each func(k int)
	each = func(k int) {
		if k == len(names) {
			y := named.Order(x, names...)
			f(y)
			f(named.Of(tensor.Contiguous(named.Unnamed(y, names...).(*tensor.Dense)), names...))
			return
		}
		for i := k; i < len(names); i++ {
			names[k], names[i] = names[i], names[k]
			each(k + 1)
			names[k], names[i] = names[i], names[k]
		}
	}
	each(0)
}

// No operation depends on the order in which its inputs are stored.
func TestStorageOrderPlaysNoPart(t *testing.T) {
	for _, o := range append(table(), questions()...) {
		t.Run(o.name, func(t *testing.T) {
			want := o.f(o.in)
			for i, x := range o.in {
				permutations(x, func(y T) {
					in := slices.Clone(o.in)
					in[i] = y
					if i+1 < len(in) { // the next input in another order too
						n := in[i+1].Dims().Names()
						slices.Reverse(n)
						in[i+1] = named.Order(in[i+1], n...)
					}
					got := o.f(in)
					if len(got) != len(want) {
						t.Fatalf("got %d results, want %d", len(got), len(want))
					}
					for k := range want {
						if err := near(want[k], got[k]); err != nil {
							t.Fatalf("input %d stored as %v, result %d: %v", i, y.Spec(), k, err)
						}
					}
				})
			}
		})
	}
}

// near compares up to the order of dimensions and rounding.
func near(want, got T) error {
	g, err := tenon.Try(func() T { return named.Order(got, want.Dims()) })
	if err != nil {
		return err
	}
	if want.DType() != g.DType() || !want.Shape().Equal(g.Shape()) {
		return fmt.Errorf("got %v, want %v", g.Spec(), want.Spec())
	}
	if !want.DType().IsFloat() {
		if !named.Equal(want, g, tensor.EqualOptions{}) {
			return fmt.Errorf("got %v, want %v", g, want)
		}
		return nil
	}
	a := tensor.Data[float64](ops.Cast(named.Unnamed(want, want.Dims()), dtype.Float64))
	b := tensor.Data[float64](ops.Cast(named.Unnamed(g, want.Dims()), dtype.Float64))
	for i := range a {
		if d := math.Abs(a[i] - b[i]); !(d <= 1e-12*(1+math.Abs(a[i]))) && a[i] != b[i] && !(math.IsNaN(a[i]) && math.IsNaN(b[i])) {
			return fmt.Errorf("got %v, want %v", g, want)
		}
	}
	return nil
}

// operations lists the functions and methods of the package that get a named tensor: found in its
// source, so that none is forgotten. The methods of Spec, whose subject is how tensors are stored, are no
// operations.
func operations(t *testing.T) []string {
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !fn.Name.IsExported() || fn.Type.Results == nil && fn.Name.Name != "Format" {
				continue
			}
			fields := slices.Clone(fn.Type.Params.List)
			if fn.Recv != nil {
				if fields = append(fields, fn.Recv.List...); strings.Contains(types.ExprString(fn.Recv.List[0].Type), "Spec") {
					continue
				}
			}
			if fn.Type.TypeParams != nil && slices.ContainsFunc(fn.Type.TypeParams.List, func(f *ast.Field) bool { return f.Names[0].Name == "F" }) {
				fields = append(fields, fn.Type.TypeParams.List...) // functions of tensors
			}
			if slices.ContainsFunc(fields, func(f *ast.Field) bool {
				switch strings.TrimPrefix(types.ExprString(f.Type), "...") {
				case "tenon.Value", "*Tensor", "any", "Dim[N]", "N", "From":
					return true
				}
				return false
			}) {
				out = append(out, fn.Name.Name)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// inTable checks that a table has all operations, but those for which there is a reason.
func inTable(t *testing.T, table []operation, but map[string]string) {
	t.Helper()
	listed := map[string]bool{}
	for _, o := range table {
		listed[strings.Fields(o.name)[0]] = true
	}
	all := operations(t)
	for _, name := range all {
		if !listed[name] && but[name] == "" {
			t.Errorf("%s is not in the table", name)
		}
	}
	for name := range but {
		if listed[name] || !slices.Contains(all, name) {
			t.Errorf("there is no reason to leave %s out", name)
		}
	}
}

// shows are the operations whose subject is how a tensor is stored, and others that the table
// has no need of.
var shows = map[string]string{
	"Shape": "in the order of storage", "Dims": "in the order of storage", "Spec": "says how a tensor is stored", "Concrete": "as it is stored",
	"String": "prints what is stored", "Format": "prints what is stored", "DType": "has nothing to do with dimensions",
	"Explain": "says how tensors are stored", "Of": "takes tensors without names", "Full": "takes a number", "Scalar": "takes a number",
	"LinSpace": "takes numbers", "Triangle": "takes numbers", "HandleOp": "the catalogue of package ops: TestCatalogueIsPermuted", "Overrides": "about an operation only", "Crossed": "follows the order of two tensors: TestAJacobianHasTheNamesOfBothSides", "On": "a handle: TestAHandleDoesWhatItsDimensionCan", "BindOver": "a schema: TestASchemaIsBoundForALiftedFunction",
	"ExplainFunction": "says how tensors are stored", "Tensor": "returns a handle's tensor as it is",
	"Plain": "as it is stored", "MarshalJSON": "as it is stored", "LogValue": "as it is stored",
}

// Every operation that gets a tensor is in the table.
func TestEveryOperationIsPermuted(t *testing.T) { inTable(t, append(table(), questions()...), shows) }

// Operations of the catalogue, which find dimensions by name where they work element by element
// or on all of them, do not depend on the order of storage either.
func TestCatalogueIsPermuted(t *testing.T) {
	tested := 0
	for _, r := range optable.Rows() {
		o := r.Definition()
		if o.Class != op.Reduction && !o.IsElementwise() {
			continue
		}
		for _, c := range r.Calls {
			call, err := op.NewCall(o, c.Args...)
			if err != nil {
				t.Fatal(err)
			}
			values := call.Values()
			var dims []named.Name
			fits := o.Class != op.Reduction || len(call.Op.Params) > 1 && call.Attr("axis") == nil && call.Attr("keepdims") != true
			for _, v := range values {
				x, ok := v.(*tensor.Dense)
				if fits = fits && ok && x.Len() < 1000 && (x.Rank() == 0 || x.Rank() > 1 && x.Shape().Equal(values[0].(tensor.Tensor).Shape())); fits && x.Rank() > len(dims) {
					for i := range x.Rank() {
						dims = append(dims, named.Dynamic(fmt.Sprint("axis ", i)))
					}
				}
			}
			if !fits || len(dims) == 0 || values[0].(tensor.Tensor).Shape().Rank() == 0 {
				continue
			}
			want, err := call.Do()
			if err != nil {
				t.Fatal(err)
			}
			turned := slices.Clone(dims)
			slices.Reverse(turned)
			for at := range values {
				args := slices.Clone(values)
				for i, v := range args {
					if x := v.(*tensor.Dense); x.Rank() > 0 {
						n := named.Of(x, dims...)
						if i == at {
							n = named.Order(n, turned...)
						}
						args[i] = n
					}
				}
				got, err := call.WithValues(args).Do()
				if err != nil {
					t.Errorf("%s: %v", o.Name, err)
					continue
				}
				for k := range want {
					w, g := want[k].(tensor.Tensor), named.From(got[k])
					if len(g.Dims().Names()) > 0 {
						g = named.Order(g, dims...)
					}
					if !alike(w, named.Unnamed(g, g.Dims())) {
						t.Errorf("%s, operand %d stored as %v: got %v, want %v", o.Name, at, turned, g, w)
					}
				}
				tested++
			}
		}
	}
	if tested < 100 {
		t.Errorf("only %d calls were compared", tested)
	}
}

// alike compares up to the rounding of sums in another order.
func alike(want, got tensor.Tensor) bool {
	d := want.DType()
	if d != got.DType() || !want.Shape().Equal(got.Shape()) || !d.IsFloat() {
		return d.IsComplex() || tensor.Equal(want, got, tensor.EqualOptions{})
	}
	a, b := tensor.Data[float64](ops.Cast(want, dtype.Float64)), tensor.Data[float64](ops.Cast(got, dtype.Float64))
	for i, x := range a {
		if math.Abs(x-b[i]) > 64*optable.Precision(d)*(1+math.Abs(x)) || math.IsNaN(x) != math.IsNaN(b[i]) || math.IsInf(x, 0) && x != b[i] {
			return false
		}
	}
	return true
}
