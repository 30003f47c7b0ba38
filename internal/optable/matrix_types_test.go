package optable

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/sparse"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

// A column of the matrix is a type of value: how one is made that holds the elements of a
// dense tensor, whose operations then give what they give of that tensor. rank is the least
// number of axes that it needs.
type column struct {
	name  string
	what  string // what it holds
	rank  int
	most  int // axes that a value has at most; 0: any number
	typed func(x tensor.Tensor) (tensor.Tensor, error)

	lists bool // it holds rows, which may differ in their lengths

	// rows are columns of rows of different lengths. They hold a tensor and parts of it,
	// and every operation does to each row what it does to that row alone; depth is how
	// many axes a row lies below.
	rows  func(parts []tensor.Tensor) (tensor.Tensor, error)
	depth int

	// elements makes elements of numbers or strings, as which of takes the ones of a sample. What the dense
	// tensor gives is what they give but for a rounding.
	elements element.Type
	of       func(x tensor.Tensor) tensor.Tensor
	rounding float64

	// mask makes the mask of a column in which some elements are missing.
	mask func(mask tensor.Tensor) (tensor.Tensor, error)
}

// equalRows makes a ragged tensor of rows that happen to be of one length, with splits of
// an element type.
func equalRows(axes int, d dtype.DType) func(x tensor.Tensor) (tensor.Tensor, error) {
	return func(x tensor.Tensor) (tensor.Tensor, error) {
		s := x.Shape()
		var splits []any
		n := s.Dim(0)
		for a := 1; a <= axes; a++ {
			at := make([]int64, n+1)
			for i := range at {
				at[i] = int64(i * s.Dim(a))
			}
			splits = append(splits, ops.Cast(at, d))
			n *= s.Dim(a)
		}
		return ragged.FromNestedRowSplits(ops.Reshape(x, append([]int{n}, s.Dims()[axes+1:]...)), splits...)
	}
}

// unequalRows makes a ragged tensor of parts that differ in their lengths, depth axes below
// the first: all are in one list of lists and so on, with an empty one behind.
func unequalRows(depth int, d dtype.DType) func(parts []tensor.Tensor) (tensor.Tensor, error) {
	return func(parts []tensor.Tensor) (tensor.Tensor, error) {
		lengths := []any{}
		for k := depth - 1; k > 0; k-- {
			outer := []int64{int64(len(parts))}
			lengths = append(lengths, ops.Cast(outer, d))
		}
		inner := make([]int64, len(parts))
		for i, p := range parts {
			inner[i] = int64(p.Shape().Dim(0))
		}
		lengths = append(lengths, ops.Cast(inner, d))
		for k := range depth - 2 { // a list of one list of the parts
			lengths[k] = ops.Cast([]int64{1}, d)
		}
		return ragged.FromNestedRowLengths(ops.Concat(parts, 0), lengths...)
	}
}

func uniformRows(x tensor.Tensor) (tensor.Tensor, error) { return ragged.WithRaggedRank(x, 1) }

// Dimensions of the named columns.
type (
	dimA struct{ named.Dim[dimA] }
	dimB struct{ named.Dim[dimB] }
	dimC struct{ named.Dim[dimC] }
	dimD struct{ named.Dim[dimD] }
)

var dims = []named.Name{dimA{}, dimB{}, dimC{}, dimD{}}

// naming names the axes of a tensor, which it stores in an order.
func naming(order func(axes []int)) func(x tensor.Tensor) (tensor.Tensor, error) {
	return func(x tensor.Tensor) (t tensor.Tensor, err error) {
		defer tenon.Catch(&err)
		r := x.Shape().Rank()
		if r > len(dims) {
			return nil, errors.New("too many axes")
		}
		axes := make([]int, r)
		for i := range axes {
			axes[i] = i
		}
		order(axes)
		names := make([]named.Name, r)
		for i, a := range axes {
			names[i] = dims[len(dims)-r+a] // the last axes of operands have the same names
		}
		return named.Of(ops.Transpose(x, axes...), names...), nil
	}
}

// record makes records with one field of elements.
func record(x tensor.Tensor) (tensor.Tensor, error) {
	return structured.FromFieldsAndRank([]structured.Field{{Name: "x", Value: x}}, x.Shape().Rank(), structured.Options{})
}

func columns() []column {
	of := func(f func(x tensor.Tensor) (tensor.Tensor, error), g func(x tensor.Tensor) (tensor.Tensor, error)) func(x tensor.Tensor) (tensor.Tensor, error) {
		return func(x tensor.Tensor) (tensor.Tensor, error) {
			y, err := f(x)
			if err != nil {
				return nil, err
			}
			return g(y)
		}
	}
	all := func(x tensor.Tensor) (t tensor.Tensor, err error) {
		defer tenon.Catch(&err)
		return masked.All(x), nil
	}
	same := func(x tensor.Tensor) (tensor.Tensor, error) { return x, nil }
	stranger := func(x tensor.Tensor) (tensor.Tensor, error) { return tagged{x, "a"}, nil }
	const unequal = " rows of different lengths, each compared with the operation on it alone"
	return []column{
		{name: "ragged", what: "a ragged axis with int64 splits", rank: 2, lists: true, typed: equalRows(1, dtype.Int64)},
		{name: "int32 splits", what: "a ragged axis with int32 splits", rank: 2, lists: true, typed: equalRows(1, dtype.Int32)},
		{name: "uniform", what: "a ragged tensor whose only partition is uniform", rank: 2, lists: true, typed: uniformRows},
		{name: "2 ragged", what: "two ragged axes", rank: 3, lists: true, typed: equalRows(2, dtype.Int64)},
		{name: "rows", what: "one ragged axis:" + unequal, rank: 1, rows: unequalRows(1, dtype.Int64), depth: 1},
		{name: "rows of rows", what: "two ragged axes, with int32 splits:" + unequal, rank: 1, rows: unequalRows(2, dtype.Int32), depth: 2},
		{name: "3 deep", what: "three ragged axes:" + unequal, rank: 1, rows: unequalRows(3, dtype.Int64), depth: 3},
		{name: "masked", what: "a masked tensor in which everything is there", rank: 1, typed: all},
		{name: "missing", what: "a masked tensor in which elements are missing", rank: 1, typed: same, mask: same},
		{name: "sparse", what: "coordinates and values", rank: 1, typed: func(x tensor.Tensor) (tensor.Tensor, error) { return sparse.FromDense(x) }},
		{name: "CSR", what: "a matrix compressed by rows", rank: 2, most: 2, typed: func(x tensor.Tensor) (tensor.Tensor, error) { return sparse.ToCSR(x) }},
		{name: "named", what: "a named tensor; package named has the operations that go by dimensions", rank: 1, typed: naming(func([]int) {})},
		{name: "stored otherwise", what: "a named tensor whose dimensions are stored in the opposite order", rank: 2, typed: naming(slices.Reverse[[]int])},
		{name: "stored rolled", what: "a named tensor whose first dimension is stored last", rank: 3, typed: naming(func(a []int) { copy(a, append(a[1:len(a):len(a)], a[0])) })},
		{name: "record", what: "records of one field", rank: 1, typed: record},
		{name: "masked ragged", what: "a masked tensor of ragged values", rank: 2, lists: true, typed: of(equalRows(1, dtype.Int64), all)},
		{name: "ragged, missing", what: "a masked tensor of ragged values of which some are missing", rank: 2, lists: true, typed: equalRows(1, dtype.Int64), mask: equalRows(1, dtype.Int64)},
		{name: "stranger", what: "a type that states a form and nothing else", rank: 1, typed: stranger},
		{name: "stranger of ragged", what: "such a type around ragged values", rank: 2, lists: true, typed: of(equalRows(1, dtype.Int64), stranger)},
		elementsOf("duration", element.DurationOf(time.Millisecond), integers, 0.5),
		elementsOf("timestamp", element.TimestampOf(time.Second, "UTC"), integers, 0),
		elementsOf("decimal", element.DecimalOf(18, 0), integers, 5e-5),
		elementsOf("wide decimal", element.DecimalOf(30, 0), integers, 5e-5),
		elementsOf("uuid", element.UUIDType, hashes, 0),
		{name: "ragged record", what: "records around ragged values", rank: 2, lists: true, typed: of(equalRows(1, dtype.Int64), record)},
	}
}

// elementsOf is a column of a type of elements.
func elementsOf(name string, t element.Type, of func(x tensor.Tensor) tensor.Tensor, rounding float64) column {
	return column{name: name, what: "elements of type " + t.String() + ", whose sample is rounded to what they store", rank: 1, elements: t, of: of, rounding: rounding}
}

// integers returns numbers as integers, and nil of what are none.
func integers(x tensor.Tensor) tensor.Tensor {
	if !x.DType().IsReal() {
		return nil
	}
	if x.DType().IsFloat() {
		x = ops.Round(ops.Mul(x, 8))
	}
	return ops.Cast(x, dtype.Int64)
}

// hashes returns strings of 16 bytes that are ordered as numbers are.
func hashes(x tensor.Tensor) tensor.Tensor {
	n := integers(x)
	if n == nil {
		return nil
	}
	var list []string
	for _, v := range ArrayOf(n).Floats() {
		list = append(list, fmt.Sprintf("%016.0f", v+1e6))
	}
	return tensor.Of(list, n.Shape().Dims()...)
}

// plainOf returns the elements of a result as a dense tensor, whatever type it is of.
func plainOf(v tenon.Value) (x tensor.Tensor, err error) {
	defer tenon.Catch(&err)
	switch v := v.(type) {
	case *ragged.Tensor:
		d, err := v.ToDense(ragged.DenseOptions{})
		if err != nil {
			return nil, err
		}
		return plainOf(d)
	case *masked.Tensor:
		if tensor.Item[bool](ops.Any(ops.LogicalNot(plain(v.Full())))) {
			return nil, errors.New("elements are missing")
		}
		return plainOf(v.Values())
	case *sparse.Tensor:
		return v.ToDense(sparse.DenseOptions{})
	case *sparse.Matrix:
		return v.ToDense()
	case *named.Tensor:
		var order []named.Name
		if v.Has(named.Rows{}) {
			order = append(order, named.Rows{})
		}
		for _, n := range dims {
			if v.Has(n) {
				order = append(order, n)
			}
		}
		return plainOf(named.Unnamed(v, order...))
	case element.Tensor:
		if v.Type.Kind == element.Decimal {
			return ops.Cast(v, dtype.Float64), nil
		}
		return v.Data, nil
	case *structured.Tensor:
		f, err := v.Field("x")
		if err != nil {
			return nil, err
		}
		return plainOf(f)
	case op.Formed:
		return plainOf(v.Form().Columns[0])
	case tensor.Tensor:
		return v, nil
	}
	return nil, fmt.Errorf("a %T has no elements", v)
}

func plain(v tenon.Value) tensor.Tensor { return tenon.Must(plainOf(v)) }

// partsOf returns a tensor and parts of it that are shorter along the first axis.
func partsOf(x tensor.Tensor) []tensor.Tensor {
	s := x.Shape().Dims()
	n := s[0]
	part := func(n int) tensor.Tensor {
		return ops.Slice(x, make([]int, len(s)), append([]int{n}, s[1:]...))
	}
	return []tensor.Tensor{x, part(max(1, n-1)), part(1)}
}

// inRows says why operations have no meaning for rows of different lengths, or another one,
// and who does it instead.
var inRows = map[string]string{
	"boolean_mask":           "a mask of elements leaves the rows that there are",
	"broadcast_to":           "ragged.BroadcastTo takes a ragged shape",
	"contract":               "the plan of einsum, which takes ragged operands by labels",
	"diag":                   "a diagonal matrix of each row has no common size; of uniform rows ops.Diag takes the flat values",
	"diag_part":              "the diagonal of the two outermost dimensions, whose rows differ in length",
	"outer":                  "ops.Mul with new axes broadcasts by rows",
	"reverse_sequence":       "ops.Reverse turns each ragged row around by its own length",
	"scatter_nd":             "the shape it makes is dense",
	"tensor_scatter_add":     "coordinates name elements of a dense tensor; ops.AddAlongAxis adds in rows",
	"tensor_scatter_max":     "as tensor_scatter_add",
	"tensor_scatter_min":     "as tensor_scatter_add",
	"tensor_scatter_update":  "ops.PutAlongAxis and ops.IndexUpdate write in rows",
	"mirror_pad":             "rows shorter than the padding have no reflection",
	"sum_to":                 "the gradient of broadcasting, recorded on flat values",
	"spread":                 "the gradient of a reduction, recorded on flat values",
	"strings.split":          "ragged.SplitStrings",
	"strings.bytes_split":    "ragged.SplitBytes",
	"strings.unicode_split":  "ragged.SplitChars",
	"strings.unicode_decode": "ragged.DecodeStrings",
}

// visible returns the elements of results as dense tensors: of masked ones what is there, with
// zeros for the rest, and where that is.
func visible(values []tenon.Value) (out []tensor.Tensor) {
	for _, v := range values {
		m, ok := v.(*masked.Tensor)
		if !ok {
			out = append(out, plainGrad(v))
			continue
		}
		there := plain(m.Full())
		out = append(out, shown(plain(m.Values()), there), there)
	}
	return out
}

// shown returns the elements that are there, and zeros or empty strings in place of others.
func shown(x, there tensor.Tensor) tensor.Tensor {
	if x.DType() == dtype.String {
		return ops.Where(there, x, "")
	}
	return ops.Where(there, x, ops.ZerosLike(x))
}
