package ngram

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/kernel/str"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops/internal/move"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Options says how n-grams are formed. The zero value joins with a space and does
// not pad.
type Options struct {
	Separator string // between the strings of an n-gram; "" is a space, but see NoSeparator

	// NoSeparator joins the strings without a separator.
	NoSeparator bool

	// Pad adds Left before and Right after each row, PadWidth times, but at most one time less than
	// the width of an n-gram. PadWidth 0 means that maximum.
	Pad         bool
	Left, Right string
	PadWidth    int

	// PreserveShort gives a nonempty row that has no n-gram of any width a single one with all its
	// strings, including padding.
	PreserveShort bool
}

// Params returns the parameters of an operation for n-grams; [Args] returns the
// arguments.
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

// Args returns the arguments for [Params].
func Args(o Options, widths []int) [6]any {
	var separator any = " " // avoids an allocation
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

// Of computes the n-grams of rows. The arguments for [Params] begin at parameter i. outSplits,
// which must be as long as splits, is set to their row splits.
func Of(c *op.Call, i int, outSplits []int64, x *tensor.Strings, splits []int64) (grams *tensor.Strings, err error) {
	col, err := str.NGrams(outSplits, move.Column(x), splits, Read(c, i))
	if err != nil {
		return nil, c.Errorf(tenon.ErrInvalid, "%v", err)
	}
	return move.Tensor(col, shape.Of(col.Len())), nil
}

// Read returns the options of a call for the kernel. The arguments for [Params] begin at parameter
// i.
func Read(c *op.Call, i int) str.NGramOptions {
	return str.NGramOptions{Widths: c.Ints(i), Separator: c.Str(i + 1), Left: c.Str(i + 2), Right: c.Str(i + 3),
		PadWidth: c.Int(i + 4), PreserveShort: c.Bool(i + 5)}
}
