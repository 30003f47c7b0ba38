package saved_test

import (
	"bytes"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/saved"
	"github.com/tenonml/tenon/tensor"
)

// FuzzFile opens arbitrary bytes as a file and reads every value. What can be read is
// written and read again without a difference.
func FuzzFile(f *testing.F) {
	for _, scale := range []float32{0, 1} {
		var b bytes.Buffer
		if err := saved.Encode(&b, newModel(scale), saved.WriteOptions{}); err != nil {
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
