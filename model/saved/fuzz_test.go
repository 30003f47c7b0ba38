package saved_test

import (
	"bytes"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/state"
	"github.com/tenonml/tenon/tensor"
)

// FuzzFile opens arbitrary bytes as a file and reads every value. What can be read is
// written and read again without a difference.
func FuzzFile(f *testing.F) {
	// One kind each: what a long file has in many places takes long to be tried in each.
	for _, v := range []any{
		tensor.Of([]float32{1, 2}), tensor.Of([]string{"a", ""}), tensor.Scalar(int8(3)), must(state.New([]float32{1})),
		ragged.FromSlices([][]int32{{1}, {}}), must(masked.New([]int8{1, 2}, []bool{true, false})), map[string]any{"a": 1, "b": []float64{2}},
	} {
		var b bytes.Buffer
		if err := saved.Encode(&b, v); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Add(foreign(`{"a":{"dtype":"F32","shape":[1,0],"data_offsets":[0,0]}}`, nil))
	f.Add(foreign(`{"__metadata__":{"k":"v"},"a":{"dtype":"F4","shape":[2],"data_offsets":[0,1]}}`, []byte{1}))
	f.Fuzz(func(t *testing.T, b []byte) {
		g, err := saved.NewFile(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		tree := map[string]any{}
		for _, n := range g.Names() {
			v, err := g.Value(n)
			if err != nil {
				return
			}
			tree[n] = v
		}
		var out bytes.Buffer
		if err := saved.Encode(&out, tree, saved.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		h, err := saved.NewFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
		if err != nil {
			t.Fatal(err)
		}
		back, err := saved.Fill(h, tree, saved.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for n, v := range tree {
			if !tensor.Equal(back[n].(tenon.Value), v.(tenon.Value), tensor.EqualOptions{NaN: true}) {
				t.Errorf("%q: got %v, want %v", n, back[n], v)
			}
		}
	})
}
