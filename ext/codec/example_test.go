package codec_test

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/ext/codec"
	"github.com/tenonml/tenon/tensor"
)

// Length is a number with a unit.
type Length struct {
	Of   tensor.Tensor
	Unit string
}

// Spec returns the Spec of the number, and the unit.
func (x Length) Spec() tenon.Spec { return ext.SpecOf(x) }

// This is what the command tenongen writes for Length: where its Values stand, and how its static
// data is compared and encoded.
func init() {
	ext.Generated(codec.Code[Length]{
		Values: func(x *Length, out []tenon.Value) []tenon.Value { return append(out, codec.Held(x.Of)) },
		Fill: func(x *Length, values []tenon.Value) (_ []tenon.Value, err error) {
			if values, err = codec.Put(&x.Of, values); err != nil {
				return nil, codec.Within("Of", err)
			}
			return values, nil
		},
		Same:  func(x, y *Length) bool { return x.Unit == y.Unit },
		Match: func(x *Length, specs []tenon.Spec) ([]tenon.Spec, bool) { return codec.Is(codec.Held(x.Of), specs) },
		Names: func(x *Length, out []string) []string { return append(out, "Of") },
		Encode: func(x *Length, specs *[]tenon.Spec) []tenon.Entry {
			return []tenon.Entry{{Name: "Of", Value: codec.EncodePlace(specs)}, {Name: "Unit", Value: tenon.Str(x.Unit)}}
		},
		Decode: func(x *Length, fields []tenon.Entry, specs *[]tenon.Spec) error {
			if err := codec.DecodeNames(fields, "Of", "Unit"); err != nil {
				return codec.Within("", err)
			}
			if err := codec.DecodePlace[tensor.Tensor](fields[0].Value, "", false, specs); err != nil {
				return codec.Within("Of", err)
			}
			if err := codec.DecodeString(&x.Unit, fields[1].Value); err != nil {
				return codec.Within("Unit", err)
			}
			return nil
		},
	})
	ext.Register[Length]("example.com/codec.Length")
}

// The code does what package ext otherwise plans by reflection; encodings are the same.
func Example() {
	x := Length{tensor.Of([]float64{1, 2}), "km"}
	text := tenon.Must(tenon.SpecOf{Spec: x.Spec()}.MarshalText())
	var again tenon.SpecOf
	tenon.Throw(again.UnmarshalText(text))
	fmt.Println(again.Spec, tenon.Equal(again.Spec, x.Spec()))
	fmt.Println(tenon.Must(ext.Stack(x, x)).Of.Shape())
	// Output:
	// Length{Of: float64[2], Unit: "km"} true
	// [2, 2]
}
