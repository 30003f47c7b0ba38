package textnorm

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/par"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/tensor"
	"golang.org/x/text/unicode/norm"
)

// A Form is one of Unicode's normal forms.
type Form string

// The normal forms.
const (
	NFC  Form = "NFC"  // composed: what most text is written in
	NFD  Form = "NFD"  // decomposed: letters and accents apart
	NFKC Form = "NFKC" // composed, with letters of compatibility (ligatures, widths) replaced
	NFKD Form = "NFKD" // decomposed, with letters of compatibility replaced
)

var forms = map[Form]norm.Form{NFC: norm.NFC, NFD: norm.NFD, NFKC: norm.NFKC, NFKD: norm.NFKD}

var normalizeOp = op.Register(&op.Op{
	Name: "strings.normalize", Statement: op.Statement{Axes: op.Map}, GoName: "textnorm.Normalize", Doc: "Each string in a normal form of Unicode.",
	Nondifferentiable: true,
	Params:            []op.Param{{Name: "x"}, {Name: "form", Kind: op.Attr, Type: op.StringType, Default: string(NFC)}}, Results: 1,
	Infer: func(c *op.Call) ([]tenon.Spec, error) {
		x := c.Tensor(0)
		if !x.DType().IsString() {
			return nil, c.Errorf(tenon.ErrDType, "x has element type %v, want string", x.DType())
		}
		if _, ok := forms[Form(c.Str(1))]; !ok {
			return nil, c.Errorf(tenon.ErrInvalid, "the form is %q, want NFC, NFD, NFKC or NFKD", c.Str(1))
		}
		return []tenon.Spec{tensor.NewSpec(dtype.String, x.Shape())}, nil
	},
	Kernel: func(c *op.Call) ([]tensor.Tensor, error) {
		return []tensor.Tensor{normalized(c.Strings(0), forms[Form(c.Str(1))])}, nil
	},
})

// Normalize returns each string in a normal form. Bytes that are not UTF-8 are unchanged.
//
//	x: string[n…] → string[n…]. No gradient.
func Normalize(x any, f Form) tensor.Tensor { return op.Eval(normalizeOp, x, string(f)) }

// chunk is the number of strings that a worker takes at a time.
const chunk = 4096

// normalized returns the strings in a normal form. Strings that are already in it, which is
// detected without writing, are not copied one by one; if all are, x is returned.
func normalized(x *tensor.Strings, f norm.Form) *tensor.Strings {
	n := x.Len()
	parts := make([][]byte, (n+chunk-1)/chunk)
	offsets := make([]int64, n+1, n+1+tensor.Slack/8)
	changed := make([]bool, len(parts))
	par.For(n, chunk, func(lo, hi int) {
		var b []byte
		for i := lo; i < hi; i++ {
			s := x.At(i)
			changed[lo/chunk] = changed[lo/chunk] || !f.IsNormalString(s)
			b = f.AppendString(b, s)
			offsets[i+1] = int64(len(b))
		}
		parts[lo/chunk] = b
	})
	total, same := 0, true
	for k, p := range parts {
		total += len(p)
		same = same && !changed[k]
	}
	if same {
		return x
	}
	bytes := make([]byte, 0, total+tensor.Slack)
	for k, p := range parts {
		for i := k * chunk; i < min((k+1)*chunk, n); i++ {
			offsets[i+1] += int64(len(bytes))
		}
		bytes = append(bytes, p...)
	}
	return tensor.WrapStrings(offsets, bytes, x.Shape())
}
