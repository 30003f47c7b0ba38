package ngram

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/kernel/str"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Options says which n-grams there are. The zero value joins with a blank and
// pads nothing.
type Options struct {
	Separator string // between the strings of an n-gram; "" is a blank, and NoSeparator nothing

	// NoSeparator joins without anything in between.
	NoSeparator bool

	// Pad puts Left in front of and Right behind each row, as often as PadWidth says
	// but at most one time less than an n-gram is wide. PadWidth 0 means so often.
	Pad         bool
	Left, Right string
	PadWidth    int

	// PreserveShort gives a row that is not empty and has no n-gram of any width one
	// of all its strings, padding included.
	PreserveShort bool
}

// Params returns the parameters that an operation has for n-grams: the arguments
// that [Args] gives.
func Params() []op.Param {
	return []op.Param{
		{Name: "widths", Kind: op.Attr, Type: op.IntsType},
		{Name: "separator", Kind: op.Attr, Type: op.StringType, Default: " "},
		{Name: "left", Kind: op.Attr, Type: op.StringType, Default: ""},
		{Name: "right", Kind: op.Attr, Type: op.StringType, Default: ""},
		{Name: "pad_width", Kind: op.Attr, Type: op.IntType, Default: 0},
		{Name: "preserve_short", Kind: op.Attr, Type: op.BoolType, Default: false},
	}
}

// Args returns the arguments of [Params].
func Args(o Options, widths []int) [6]any {
	var separator any = " " // in no new memory
	if o.Separator != "" || o.NoSeparator {
		separator = o.Separator
	}
	switch {
	case !o.Pad:
		o.PadWidth = 0
	case o.PadWidth == 0:
		o.PadWidth = -1
	}
	return [6]any{append([]int{}, widths...), separator, o.Left, o.Right, o.PadWidth, o.PreserveShort}
}

// Of computes the n-grams of rows; the arguments of [Params] begin at parameter i.
// outSplits gets their row splits; it is as long as splits.
func Of(c *op.Call, i int, outSplits []int64, x *tensor.Strings, splits []int64) (grams *tensor.Strings, err error) {
	col, err := str.NGrams(outSplits, move.Column(x), splits, Read(c, i))
	if err != nil {
		return nil, c.Errorf(tenon.ErrInvalid, "%v", err)
	}
	return move.Tensor(col, shape.Of(col.Len())), nil
}

// Read returns the options of a call for the kernel; the arguments of [Params] begin
// at parameter i.
func Read(c *op.Call, i int) str.NGramOptions {
	return str.NGramOptions{Widths: c.Ints(i), Separator: c.Str(i + 1), Left: c.Str(i + 2), Right: c.Str(i + 3),
		PadWidth: c.Int(i + 4), PreserveShort: c.Bool(i + 5)}
}
