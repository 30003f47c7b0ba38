package alignment_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/examples/exttypes/alignment"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/spectest"
	"github.com/tenonml/tenon/tensor"
)

// Four words: the second is said by two speakers, the third by nobody.
func words() alignment.DimensionAlignment {
	return tenon.Must(alignment.New("word", "speaker", [][]int64{{0}, {0, 1}, {}, {2}}))
}

func Example() {
	a := words()
	age := []float32{30, 40, 50}
	fmt.Println(a.Broadcast(age))
	fmt.Println(a.Mean(age))
	fmt.Println(a.Reduce([]float32{1, 1, 1, 1}, 3))
	fmt.Println(a.Invert(3))
	// Output:
	// [[30.] [30. 40.] [] [50.]] float32[4, ~]
	// [30. 35.  0. 50.] float32[4]
	// [2. 1. 1.] float32[3]
	// DimensionAlignment(From="speaker", To="word", Alignment=[[0 1] [1] [3]] int64[3, ~])
}

func TestLaws(t *testing.T) {
	spectest.Laws(t, spectest.Options{}, words(), tenon.Must(alignment.New("a", "b", [][]int64{{}})))
}

func TestInvertTwiceIsTheSame(t *testing.T) {
	if got := words().Invert(3).Invert(4); !tensor.Equal(got, words(), tensor.EqualOptions{}) {
		t.Errorf("got %v", got)
	}
}

func TestGradient(t *testing.T) {
	g := grad.Of(func(age tensor.Tensor) tensor.Tensor { return ops.Sum(words().Mean(age)) })(tensor.Vector([]float32{1, 2, 3}))
	if want := tensor.Vector([]float32{1.5, 0.5, 1}); !tensor.Equal(g, want, tensor.EqualOptions{}) {
		t.Errorf("got %v, want %v", g, want)
	}
}

func TestNegativeItem(t *testing.T) {
	if _, err := alignment.New("a", "b", [][]int64{{0, -1}}); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("got %v", err)
	}
}
