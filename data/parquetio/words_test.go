package parquetio

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/tenonml/tenon/tensor"
)

// What is written does not depend on the seeds of hashes: numbers of which there are many alike in their low or
// high bits get a dictionary each time.
func TestWritingIsDeterministic(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	thousandths, multiples := make([]float64, 4096), make([]int64, 4096)
	for i := range thousandths {
		thousandths[i] = float64(r.IntN(3000)) / 1000
		multiples[i] = int64(r.IntN(3000)) << 40
	}
	for range 200 {
		for _, v := range []*values{
			{n: 4096, width: 8, fixed: asBytes(thousandths)}, {n: 4096, width: 8, fixed: asBytes(multiples)},
		} {
			if wordsOf(v) == nil {
				t.Fatal("a column that repeats has no dictionary")
			}
		}
	}
	var first bytes.Buffer
	for i := range 20 {
		var b bytes.Buffer
		if err := Encode(&b, tensor.Of(thousandths), WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = b
		} else if !bytes.Equal(b.Bytes(), first.Bytes()) {
			t.Fatalf("the bytes of time %d differ", i)
		}
	}
}
