package ops_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ops/key"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

func matrix() tensor.Tensor { return tensor.Of([]float32{1, 2, 3, 4, 5, 6}, 2, 3) }

// Bad arguments give one error of the right kind that says what is wrong.
func TestStructuralErrors(t *testing.T) {
	x := matrix()
	for name, c := range map[string]struct {
		call func() any
		kind error
		says string
	}{
		"reshape size":        {func() any { return ops.Reshape(x, []int{4}) }, tenon.ErrShape, "6 elements"},
		"reshape two open":    {func() any { return ops.Reshape(x, []int{-1, -1}) }, tenon.ErrShape, "two sizes open"},
		"reshape huge":        {func() any { return ops.Reshape(x, []int{1 << 62, 1 << 62}) }, tenon.ErrShape, "do not fill"},
		"reshape float sizes": {func() any { return ops.Reshape(x, []float32{6}) }, tenon.ErrDType, "int32 or int64"},
		"transpose twice":     {func() any { return ops.Transpose(x, 0, 0) }, tenon.ErrAxis, "twice"},
		"transpose few":       {func() any { return ops.Transpose(x, 0) }, tenon.ErrAxis, "lists 1 axes"},
		"expand axis":         {func() any { return ops.ExpandDims(x, 4) }, tenon.ErrAxis, "axis 4"},
		"squeeze size":        {func() any { return ops.Squeeze(x, 0) }, tenon.ErrShape, "size 2, not 1"},
		"broadcast":           {func() any { return ops.BroadcastTo(x, []int{2, 4}) }, tenon.ErrShape, "size 3"},
		"broadcast huge":      {func() any { return ops.BroadcastTo(float32(1), []int{1 << 40, 1 << 40}) }, tenon.ErrShape, "memory"},
		"concat none":         {func() any { return ops.Concat([]tensor.Tensor{}, 0) }, tenon.ErrInvalid, "no tensor"},
		"concat ranks":        {func() any { return ops.Concat([]any{x, []float32{1}}, 0) }, tenon.ErrShape, "tensor 1 has rank 1"},
		"concat scalars":      {func() any { return ops.Concat([]any{1, 2}, 0) }, tenon.ErrAxis, "axis 0"},
		"stack":               {func() any { return ops.Stack([]any{x, []float32{1}}, 0) }, tenon.ErrShape, "ragged.Stack"},
		"split parts":         {func() any { return ops.Split(x, 2, 1) }, tenon.ErrInvalid, "2 parts"},
		"split sizes":         {func() any { return ops.Split(x, []int{1, 1}, 1) }, tenon.ErrInvalid, "do not add up to 3"},
		"tile":                {func() any { return ops.Tile(x, []int{-1, 1}) }, tenon.ErrInvalid, "negative"},
		"tile huge":           {func() any { return ops.Tile(x, []int{1 << 62, 1}) }, tenon.ErrShape, "too large"},
		"repeat":              {func() any { return ops.Repeat(x, []int{1, -2}, 0) }, tenon.ErrInvalid, "repeats[1]"},
		"repeat huge":         {func() any { return ops.Repeat(x, []int{1 << 61, 1 << 61}, 0) }, tenon.ErrShape, "memory"},
		"pad negative":        {func() any { return ops.Pad(x, [][]int{{0, -1}, {0, 0}}, ops.PadOptions{}) }, tenon.ErrInvalid, "negative"},
		"pad rows":            {func() any { return ops.Pad(x, [][]int{{0, 1}}, ops.PadOptions{}) }, tenon.ErrShape, "want [2, 2]"},
		"pad mode":            {func() any { return ops.Pad(x, [][]int{{0, 1}, {0, 0}}, ops.PadOptions{Mode: "wrap"}) }, tenon.ErrInvalid, `"wrap"`},
		"pad reflect":         {func() any { return ops.Pad(x, [][]int{{2, 0}, {0, 0}}, ops.PadOptions{Mode: ops.PadReflect}) }, tenon.ErrInvalid, "wider"},
		"slice beyond":        {func() any { return ops.Slice(x, []int{0, 2}, []int{1, 2}) }, tenon.ErrInvalid, "reach beyond axis 1"},
		"index":               {func() any { return ops.Index(x, 0, 3) }, tenon.ErrRange, "key 1"},
		"index dynamic":       {func() any { return ops.Index(x, tensor.Scalar(2)) }, tenon.ErrRange, "out of bounds"},
		"index many":          {func() any { return ops.Index(x, 0, 0, 0) }, tenon.ErrShape, "keys for 3 axes"},
		"index step":          {func() any { return ops.Index(x, key.Range(nil, nil, 0)) }, tenon.ErrInvalid, "step is 0"},
		"index field":         {func() any { return ops.Index(x, "name") }, tenon.ErrDType, "no field"},
		"index two tensors":   {func() any { return ops.Index(x, []int{0}, tensor.Of([]int{0})) }, tenon.ErrDType, "not a key"},
		"index by two":        {func() any { return ops.Index(x, tensor.Of([]int{0}), tensor.Of([]int{0})) }, tenon.ErrUnsupported, "GatherND"},
		"index update":        {func() any { return ops.IndexUpdate(x, []float32{1, 2}, 0) }, tenon.ErrShape, "broadcast"},
		"gather":              {func() any { return ops.Gather(x, [][]int{{0, 1}, {5, 0}}, 1) }, tenon.ErrInvalid, "indices[1, 0]: index 5 is outside [0, 3)"},
		"gather negative":     {func() any { return ops.Gather(x, -1, 1) }, tenon.ErrInvalid, "index -1"},
		"gather batch":        {func() any { return ops.GatherBatched(x, [][]int{{0}}, 1, 1) }, tenon.ErrShape, "batch axis: 2 and 1"},
		"gather_nd":           {func() any { return ops.GatherND(x, [][]int{{0, 1}, {2, 0}}, 0) }, tenon.ErrInvalid, "indices[1, 0]"},
		"gather_nd deep":      {func() any { return ops.GatherND(x, [][]int{{0, 1, 2}}, 0) }, tenon.ErrShape, "too many"},
		"scatter_nd":          {func() any { return ops.ScatterND([][]int{{4}}, []float32{1}, []int{4}) }, tenon.ErrInvalid, "indices[0, 0]"},
		"scatter updates":     {func() any { return ops.TensorScatterAdd(x, [][]int{{0}}, []float32{1, 2}) }, tenon.ErrShape, "want [1, 3]"},
		"take along":          {func() any { return ops.TakeAlongAxis(x, [][]int{{3}, {0}}, 1) }, tenon.ErrInvalid, "indices[0, 0]"},
		"take along shape":    {func() any { return ops.TakeAlongAxis(x, [][]int{{0}}, 1) }, tenon.ErrShape, "outside axis 1"},
		"mask":                {func() any { return ops.BooleanMask(x, []bool{true, false, true}, 0) }, tenon.ErrShape, "the mask"},
		"mask ints":           {func() any { return ops.BooleanMask(x, []int{1, 0}, 0) }, tenon.ErrDType, "boolean"},
		"one_hot":             {func() any { return ops.OneHot([]int{1}, -2, -1, ops.OneHotOptions{}) }, tenon.ErrInvalid, "at least 0"},
		"reverse":             {func() any { return ops.Reverse(x, 0, -2) }, tenon.ErrAxis, "twice"},
		"roll":                {func() any { return ops.Roll(x, []int{1, 2}, 0) }, tenon.ErrShape, "1 axes"},
		"reverse_sequence":    {func() any { return ops.ReverseSequence(x, []int{4, 0}, 1, 0) }, tenon.ErrInvalid, "lengths[0]"},
		"range":               {func() any { return ops.Range(0, 5, 0) }, tenon.ErrInvalid, ""},
		"range nan":           {func() any { return ops.Range(0.0, math.NaN(), 1.0) }, tenon.ErrInvalid, ""},
		"range huge":          {func() any { return ops.Range(0.0, 1e300, 1e-300) }, tenon.ErrInvalid, ""},
		"fill":                {func() any { return ops.Fill([]int{-2}, 1) }, tenon.ErrShape, "negative"},
		"eye":                 {func() any { return ops.Eye(dtype.String, 2, 2) }, tenon.ErrDType, "no one"},
		"top_k":               {func() any { v, _ := ops.TopK(x, 4); return v }, tenon.ErrInvalid, "k is 4"},
		"sort complex":        {func() any { return ops.Sort([]complex64{1}, 0, ops.SortOptions{}) }, tenon.ErrDType, "complex64"},
		"unique rank":         {func() any { v, _, _, _ := ops.Unique(x); return v }, tenon.ErrShape, "flatten"},
		"bincount":            {func() any { return ops.BinCount([]int{1, -1}, ops.BinCountOptions{}) }, tenon.ErrInvalid, "x[1]"},
		"bincount huge":       {func() any { return ops.BinCount([]int{1 << 60}, ops.BinCountOptions{}) }, tenon.ErrInvalid, "MaxLength"},
		"histogram":           {func() any { return ops.Histogram([]float32{1}, []float32{2, 1}, 3) }, tenon.ErrInvalid, "below"},
		"segment id":          {func() any { return ops.SegmentSum([]float32{1, 2}, []int{0, 9}, 4) }, tenon.ErrInvalid, "ids[1]"},
		"segment shape":       {func() any { return ops.SegmentSum(x, []int{0, 1, 1}, 2) }, tenon.ErrShape, "ids"},
		"segment strings":     {func() any { return ops.SegmentSum([]string{"a"}, []int{0}, 1) }, tenon.ErrDType, "string"},
		"ensure_shape":        {func() any { return ops.EnsureShape(x, shape.Of(2, 4)) }, tenon.ErrShape, ""},
		"string dtype":        {func() any { return ops.StringLower([]int{1}, ops.UnitByte) }, tenon.ErrDType, "string"},
		"string unit":         {func() any { return ops.StringLength([]string{"a"}, "word") }, tenon.ErrInvalid, `"word"`},
		"string substr":       {func() any { return ops.StringSubstr([][]string{{"abc", "a"}}, 2, 1, ops.UnitByte) }, tenon.ErrInvalid, "x[0, 1]"},
		"string to_number":    {func() any { return ops.StringToNumber([]string{"1", "x"}, dtype.Int8) }, tenon.ErrInvalid, "x[1]"},
		"string regex":        {func() any { return ops.StringRegexFullMatch([]string{"a"}, "(") }, tenon.ErrInvalid, ""},
		"string hash":         {func() any { return ops.StringHash([]string{"a"}, 0, ops.HashOptions{}) }, tenon.ErrInvalid, "0 buckets"},
		"string encoding":     {func() any { v, _, _ := ops.StringDecode([]string{"a"}, "EBCDIC", ops.UnicodeOptions{}); return v }, tenon.ErrInvalid, "EBCDIC"},
		"string malformed": {func() any {
			v, _, _ := ops.StringDecode([]string{"ok", "a\xff"}, "UTF-8", ops.UnicodeOptions{Errors: ops.UnicodeStrict})
			return v
		}, tenon.ErrInvalid, "x[1]"},
		"string encode splits": {func() any { return ops.StringEncode([]int{65}, []int{0, 2}, "UTF-8", ops.UnicodeOptions{}) }, tenon.ErrInvalid, "splits"},
		"ngrams":               {func() any { return ops.StringNGrams([]string{"a"}, []int{0}, ops.NGramOptions{}) }, tenon.ErrInvalid, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tenon.Try(c.call)
			var e *tenon.Error
			if !errors.As(err, &e) || !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want a %v that says %q", err, c.kind, c.says)
			}
		})
	}
}

// What moves nothing shares memory with its operand.
func TestViewsShare(t *testing.T) {
	x := matrix().(*tensor.Dense)
	for name, y := range map[string]tensor.Tensor{
		"reshape": ops.Reshape(x, []int{3, 2}), "expand_dims": ops.ExpandDims(x, 1), "transpose": ops.Transpose(x), "slice": ops.Slice(x, []int{0, 0}, []int{2, 2}),
		"index": ops.Index(x, 0), "broadcast_to": ops.BroadcastTo(x, []int{4, 2, 3}), "squeeze": ops.Squeeze(ops.ExpandDims(x, 0)), "unstack": ops.Unstack(x, 0)[0], "split": ops.Split(x, 2, 0)[0], "diag_part": ops.DiagPart(x),
	} {
		if y.(*tensor.Dense).Raw() != x.Raw() {
			t.Errorf("%s copies", name)
		}
	}
	if z := ops.Zeros(dtype.Float64, []int{1 << 20, 1 << 20}); z.Shape().Size() != 1<<40 {
		t.Errorf("zeros of shape %v", z.Shape())
	}
}

// A segment without items gives the identity of the reduction in every type.
func TestEmptySegments(t *testing.T) {
	check := func(name string, got tensor.Tensor, want any) {
		t.Helper()
		w := tenon.Must(tensor.Convert(want))
		if got.DType() != w.DType() || !cmp.Equal(float(got), float(w), cmp.Comparer(same)) {
			t.Errorf("%s: %v, want %v", name, got, w)
		}
	}
	inf := float32(math.Inf(1))
	check("sum", ops.SegmentSum([]float32{1}, []int{1}, 2), []float32{0, 1})
	check("prod", ops.SegmentProd([]int32{5}, []int{1}, 2), []int32{1, 5})
	check("max", ops.SegmentMax([]float32{1}, []int{1}, 2), []float32{-inf, 1})
	check("min", ops.SegmentMin([]float32{1}, []int{1}, 2), []float32{inf, 1})
	check("max of int8", ops.SegmentMax([]int8{1}, []int{1}, 2), []int8{math.MinInt8, 1})
	check("min of uint16", ops.SegmentMin([]uint16{1}, []int{1}, 2), []uint16{math.MaxUint16, 1})
	check("mean", ops.SegmentMean([]float32{1}, []int{1}, 2), []float32{float32(math.NaN()), 1})
	check("mean of integers", ops.SegmentMean([]int32{1, 2}, []int{0, 0}, 1), []float64{1.5})
	check("NaN wins", ops.SegmentMax([]float64{1, math.NaN(), 3}, []int{0, 0, 0}, 1), []float64{math.NaN()})
	check("dropped", ops.SegmentSum([]int64{1, 2, 4}, []int{0, -1, 0}, 1), []int64{5})
	check("no number", ops.SegmentSum([]int64{1, 2, 4}, []int32{2, 0, 2}, nil), []int64{2, 0, 5})
}

func float(x tensor.Tensor) []float64 { return tensor.Data[float64](ops.Cast(x, dtype.Float64)) }

func same(a, b float64) bool { return a == b || a != a && b != b }

// Tensors among the keys select as gather and boolean mask do.
func TestIndexByTensor(t *testing.T) {
	x := matrix()
	for name, c := range map[string]struct {
		got  tensor.Tensor
		want any
	}{
		"positions":         {ops.Index(x, key.All, tensor.Of([]int{2, 0, -1})), [][]float32{{3, 1, 3}, {6, 4, 6}}},
		"after a position":  {ops.Index(x, 1, tensor.Of([]int32{2, 0})), []float32{6, 4}},
		"with a new axis":   {ops.Index(x, key.NewAxis, tensor.Of([]int{1})), [][][]float32{{{4, 5, 6}}}},
		"mask of a row":     {ops.Index(x, tensor.Of([]bool{false, true})), [][]float32{{4, 5, 6}}},
		"mask of the whole": {ops.Index(x, tensor.Of([]bool{true, false, false, false, true, true}, 2, 3)), []float32{1, 5, 6}},
		"mask, then range":  {ops.Index(x, tensor.Of([]bool{false, true}), key.From(1)), [][]float32{{5, 6}}},
		"scalar tensor":     {ops.Index(x, tensor.Scalar(int32(-1)), 0), float32(4)},
	} {
		want := tenon.Must(tensor.Convert(c.want))
		if !c.got.Shape().Equal(want.Shape()) || !cmp.Equal(float(c.got), float(want)) {
			t.Errorf("%s: %v, want %v", name, c.got, want)
		}
	}
}

func TestStrings(t *testing.T) {
	check := func(name string, got tensor.Tensor, want any) {
		t.Helper()
		w := tenon.Must(tensor.Convert(want))
		if !got.Shape().Equal(w.Shape()) || !cmp.Equal(tensor.Data[string](got), tensor.Data[string](w)) {
			t.Errorf("%s: %v, want %v", name, got, w)
		}
	}
	check("transposed", ops.Transpose([][]string{{"a", "b"}, {"c", "d"}}), [][]string{{"a", "c"}, {"b", "d"}})
	check("padded", ops.Pad([]string{"a"}, [][]int{{1, 1}}, ops.PadOptions{Value: "-"}), []string{"-", "a", "-"})
	check("padded scalar", ops.Pad("a", [][]int{}, ops.PadOptions{}), "a")
	check("filled", ops.Zeros(dtype.String, []int{2}), []string{"", ""})
	check("truth", ops.AsString([]bool{true, false}, ops.FormatOptions{}), []string{"true", "false"})
	check("sorted", ops.Sort([]string{"b", "", "B", "a"}, 0, ops.SortOptions{Descending: true}), []string{"b", "a", "B", ""})
	precision := 0
	check("precision", ops.AsString([]float64{2.5, 1e6}, ops.FormatOptions{Precision: &precision}), []string{"2", "1000000"})
	check("final sigma", ops.StringLower([]string{"ΟΔΟΣ"}, ops.UnitChar), []string{"οδος"})
	check("no separator", ops.StringNGrams([]string{"a", "b"}, []int{2}, ops.NGramOptions{NoSeparator: true}), []string{"ab"})
}

// TestRollTwice: the shifts of an axis that is named twice add up.
func TestRollTwice(t *testing.T) {
	x := tensor.Of([]int{0, 1, 2, 3, 4, 5}, 2, 3)
	for _, c := range []struct {
		shift any
		axes  []int
		want  []int
	}{
		{[]int{1, 1}, []int{1, 1}, []int{1, 2, 0, 4, 5, 3}},
		{[]int{1, 1, 2}, []int{1, 0, -1}, []int{3, 4, 5, 0, 1, 2}},
		{2, []int{1, -1}, []int{2, 0, 1, 5, 3, 4}},
	} {
		if y := ops.Roll(x, c.shift, c.axes...); !tensor.Equal(y, tensor.Of(c.want, 2, 3), tensor.EqualOptions{}) {
			t.Errorf("by %v along %v: %v, want %v", c.shift, c.axes, y, c.want)
		}
	}
}
