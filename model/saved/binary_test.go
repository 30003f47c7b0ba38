package saved_test

import (
	"bytes"
	"encoding/gob"
	"errors"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/state"
	"github.com/tenonml/tenon/tensor"
)

// What package encoding/gob sends is what it was; bytes that are no value are refused.
func TestValuesInGob(t *testing.T) {
	for _, v := range []tenon.Value{
		tensor.Of([]float32{1, 2, 3, 4}, 2, 2), tensor.Scalar("word"), tensor.Of([]complex64{1i}), tensor.Of([]float64{}, 0, 3),
		ragged.FromSlices([][]string{{"a"}, {}, {"b", "c"}}), tenon.Must(state.New([]float64{1, 2})),
	} {
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).Encode(saved.Binary{Value: v}); err != nil {
			t.Errorf("%v: %v", v, err)
			continue
		}
		text := bytes.Clone(b.Bytes())
		var back saved.Binary
		if err := gob.NewDecoder(&b).Decode(&back); err != nil || !tensor.Equal(back.Value, tenon.Must(tensor.Settled(v)), tensor.EqualOptions{}) {
			t.Errorf("%v comes back as %v, %v", v, back.Value, err)
		}
		for i := range text {
			damaged := bytes.Clone(text)
			damaged[i] ^= 0x5a
			var back saved.Binary
			if gob.NewDecoder(bytes.NewReader(damaged)).Decode(&back) == nil && back.Value != nil {
				_ = tenon.String(back.Spec())
			}
		}
	}
	var two bytes.Buffer
	tenon.Throw(saved.Encode(&two, []tensor.Tensor{tensor.Scalar(1.0), tensor.Scalar(2.0)}))
	for name, b := range map[string][]byte{"two values": two.Bytes(), "no file": []byte("neither"), "cut off": two.Bytes()[:20]} {
		var v saved.Binary
		if err := v.UnmarshalBinary(b); !errors.Is(err, tenon.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
