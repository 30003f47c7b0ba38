package ext

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/shape"
)

// policy says what a batch axis means for a field.
type policy uint8

const (
	batchRows policy = iota // in a batch, the field holds those of all rows
	batchKeep               // all rows share one field
	batchNone               // the type has no batches
)

// tag is a parsed tenon tag of a field.
type tag struct {
	name     string
	ignored  bool
	static   bool
	optional bool
	dense    bool
	typeName string // the required type name of the Value
	batch    policy
	def      string // default
	hasDef   bool
	oneOf    []string

	// Relations that a value must satisfy; see relate.go.
	dtype string
	rank  string
	shape string
	dims  []dim // of shape in brackets
	len   *dim  // of a slice or map, or of the outermost axis
}

// dim is a pattern for one size: a number, a symbol plus a number, anything, or any
// number of further sizes.
type dim struct {
	symbol string // "": a number; "_": anything; "...": the rest
	plus   int
}

// parseTag parses a field's tag: items separated by commas, keys and values by
// "=".
func parseTag(f reflect.StructField, path string) (*tag, error) {
	t := &tag{name: f.Name}
	text := f.Tag.Get("tenon")
	if text == "-" {
		t.ignored = true
		return t, nil
	}
	bad := func(item, why string) error {
		return &tenon.Error{Kind: tenon.ErrInvalid, Op: "ext.Register", Where: path, Msg: "the tag " + strconv.Quote(item) + " " + why}
	}
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		key, value, has := strings.Cut(item, "=")
		var err error
		switch key {
		case "":
		case "-":
			t.ignored = true
		case "static":
			t.static = true
		case "optional":
			t.optional = true
		case "dense":
			t.dense = true
		case "name":
			if t.name = value; value == "" {
				return nil, bad(item, "names nothing")
			}
		case "type":
			t.typeName = value
		case "default":
			t.def, t.hasDef = value, has
		case "oneof":
			t.oneOf = strings.Split(value, "|")
		case "dtype":
			t.dtype = value
		case "rank":
			t.rank = value
		case "shape":
			if t.shape = value; strings.HasPrefix(value, "[") {
				t.dims, err = parseDims(value)
			}
		case "len":
			var d dim
			d, err = parseDim(value)
			t.len = &d
		case "batch":
			switch value {
			case "keep":
				t.batch = batchKeep
			case "none":
				t.batch = batchNone
			case "rows":
			default:
				return nil, bad(item, "is none of batch=rows, batch=keep and batch=none")
			}
		default:
			return nil, bad(item, "is not known")
		}
		if err != nil {
			return nil, bad(item, "is not a pattern of sizes: "+err.Error())
		}
	}
	return t, nil
}

// parseDims parses "[rows+1 cols ...]".
func parseDims(text string) ([]dim, error) {
	inner, ok := strings.CutSuffix(strings.TrimPrefix(text, "["), "]")
	if !ok {
		return nil, tenon.NewError(tenon.ErrInvalid, "ext.Register", "a bracket is missing")
	}
	dims := []dim{}
	for i, word := range strings.Fields(inner) {
		d, err := parseDim(word)
		if err != nil {
			return nil, err
		}
		if d.symbol == "..." && i != len(strings.Fields(inner))-1 {
			return nil, tenon.NewError(tenon.ErrInvalid, "ext.Register", "the dots are not at the end")
		}
		dims = append(dims, d)
	}
	return dims, nil
}

func parseDim(word string) (dim, error) {
	switch word {
	case "...", "_":
		return dim{symbol: word}, nil
	case "?":
		return dim{symbol: "_"}, nil
	}
	at := strings.IndexAny(word, "+-")
	d := dim{symbol: word}
	if at >= 0 {
		d.symbol = word[:at]
		k, err := strconv.Atoi(word[at:])
		if err != nil {
			return d, err
		}
		d.plus = k
	}
	if n, err := strconv.Atoi(d.symbol); err == nil {
		return dim{plus: n + d.plus}, nil
	}
	if d.symbol == "" {
		return d, tenon.NewError(tenon.ErrInvalid, "ext.Register", strconv.Quote(word)+" names no size")
	}
	return d, nil
}

// fits checks that the tag makes sense for the contents of the field.
func (t *tag) fits(n *node, path string) error {
	bad := func(why string) error {
		return &tenon.Error{Kind: tenon.ErrInvalid, Op: "ext.Register", Where: path, Msg: why}
	}
	inner := n.leaf()
	values := inner.isPlace()
	switch {
	case t.static && n.places != 0:
		return bad("the field is static, but holds Values")
	case t.optional && !values && n.kind != kindPointer && n.kind != kindScalar:
		return bad("optional static data must be behind a pointer")
	case (t.dtype != "" || t.rank != "" || t.shape != "" || t.dense || t.typeName != "") && !values:
		return bad("dtype, rank, shape, dense and type are for fields that hold Values")
	case t.len != nil && n.kind != kindSlice && n.kind != kindMap && !values:
		return bad("len is for slices, maps and Values")
	case len(t.oneOf) > 0 && values:
		return bad("oneof is for static data")
	}
	if t.hasDef {
		_, err := t.defaultOf(n)
		if err != nil {
			return bad("the default " + strconv.Quote(t.def) + " is not a value of the field: " + err.Error())
		}
	}
	return nil
}

// leaf looks through containers, up to a type that contains itself.
func (n *node) leaf() *node {
	for depth := 0; depth < 64 && n.elem != nil && n.kind >= kindSlice; depth++ {
		n = n.elem
	}
	return n
}

func (n *node) isPlace() bool { return n.kind >= kindTensor && n.kind <= kindBehind }

// defaultOf returns the value of a field's default.
func (t *tag) defaultOf(n *node) (any, error) {
	switch n.kind {
	case kindBool:
		return strconv.ParseBool(t.def)
	case kindInt:
		x, err := strconv.ParseInt(t.def, 10, n.typ.Bits())
		return int(x), err
	case kindUint:
		x, err := strconv.ParseUint(t.def, 10, min(63, n.typ.Bits()))
		return int(x), err
	case kindFloat:
		return strconv.ParseFloat(t.def, 64)
	case kindString:
		return t.def, nil
	case kindDType:
		return dtype.Parse(t.def)
	case kindShape:
		return shape.Parse(t.def)
	case kindScalar:
		for _, parse := range []func() (any, error){
			func() (any, error) { return strconv.Atoi(t.def) },
			func() (any, error) { return strconv.ParseFloat(t.def, 64) },
			func() (any, error) { return strconv.ParseBool(t.def) },
		} {
			if x, err := parse(); err == nil {
				return x, nil
			}
		}
		return t.def, nil
	case kindTensor, kindValue:
		d, _ := dtype.Parse(t.dtype)
		return scalarOf(t.def, d)
	}
	return nil, tenon.NewError(tenon.ErrUnsupported, "ext.Register", "a "+n.typ.String()+" has no default")
}
