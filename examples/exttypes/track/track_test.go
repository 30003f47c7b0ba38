package track_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/examples/exttypes/track"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/spectest"
	"github.com/tenonml/tenon/tensor"
)

func walk() track.Track {
	return tenon.Must(track.New([]float64{0, 1, 3}, [][]float64{{0, 0}, {3, 4}, {3, 8}}))
}

func ExampleNew() {
	t, err := track.New([]float64{0, 1}, [][]float64{{0, 0}, {3, 4}})
	fmt.Println(t, err)
	fmt.Println(t.Spec())

	_, err = track.New([]float64{0, 1}, [][]float64{{0, 0}})
	fmt.Println(errors.Is(err, tenon.ErrInvalid))
	// Output:
	// Track(Times=[0. 1.] float64[2], Places=[[0. 0.]
	//  [3. 4.]] float64[2, 2], Unit="m") <nil>
	// Track{Times: float64[2], Places: float64[2, 2], Unit: "m"}
	// true
}

func Example_functions() {
	length := function.New(func(t track.Track) tensor.Tensor { return t.Length() })
	fmt.Println(length.Call(walk()))

	longer := function.New(func(a, b track.Track) track.Track {
		return control.Cond(ops.Greater(a.Length(), b.Length()),
			func() track.Track { return a },
			func() track.Track { return b })
	})
	fmt.Println(longer.Call(walk(), ops.Mul(walk(), 2).(track.Track)).Length())

	slope := grad.Of(func(t track.Track) tensor.Tensor { return t.Length() })(walk())
	fmt.Println(slope.Places)
	// Output:
	// 9.0 float64[]
	// 18.0 float64[]
	// [[-0.6 -0.8]
	//  [ 0.6 -0.2]
	//  [ 0.   1. ]] float64[3, 2]
}

func Example_batches() {
	both, err := ext.Stack(walk(), ops.Mul(walk(), 2).(track.Track))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(both.Spec())
	fmt.Println(control.Map(func(t track.Track) tensor.Tensor { return t.Length() }, both))
	// Output:
	// Track{Times: float64[2, 3], Places: float64[2, 3, 2], Unit: "m"}
	// [ 9. 18.] float64[2]
}

func ExampleFit() {
	m, loss := track.Fit(walk(), 2000, 0.1)
	fmt.Printf("from %.2f at %.2f, loss %.2f\n", m.Start, m.Velocity, loss)
	// Output:
	// from [0.86 0.57] float64[2] at [0.86 2.57] float64[2], loss 0.62 float64[]
}

func TestLaws(t *testing.T) {
	other := walk()
	other.Unit = "km"
	spectest.Laws(t, spectest.Options{}, walk(), other,
		tenon.Must(track.New([]float32{}, ops.Zeros(dtype.Float32, []int{0, 2}))))
}

func TestOlderVersion(t *testing.T) {
	old := tenon.Tuple{tenon.Int(1), tenon.NamedTuple{Name: "Track", Fields: []tenon.Entry{
		{Name: "Times", Value: tenon.SpecOf{Spec: tensor.NewSpec(dtype.Float64, shape.Of(1))}},
		{Name: "Places", Value: tenon.SpecOf{Spec: tensor.NewSpec(dtype.Float64, shape.Of(1, 2))}},
	}}}
	spec, err := tenon.Decode("example.com/track.Track", old)
	if err != nil {
		t.Fatal(err)
	}
	v, err := spec.Assemble([]tenon.Value{tensor.Vector([]float64{0}), tenon.Must(tensor.Convert([][]float64{{1, 2}}))})
	if err != nil {
		t.Fatal(err)
	}
	got := v.(track.Track)
	if got.Unit != "km" || !tensor.Equal(got.Metres().Places, tenon.Must(tensor.Convert([][]float64{{1000, 2000}})), tensor.EqualOptions{}) {
		t.Errorf("got %v", got)
	}
}

func TestFit(t *testing.T) {
	line := tenon.Must(track.New([]float64{0, 1, 2}, [][]float64{{1, 0}, {3, -1}, {5, -2}}))
	m, loss := track.Fit(line, 500, 0.2)
	for i, want := range []float64{2, -1} {
		if got := tensor.Data[float64](m.Velocity)[i]; math.Abs(got-want) > 1e-6 {
			t.Errorf("velocity %d is %v, want %v (loss %v)", i, got, want, loss)
		}
	}
}

func TestTimeThatGoesBack(t *testing.T) {
	if _, err := track.New([]float64{1, 0}, [][]float64{{0, 0}, {1, 1}}); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("got %v", err)
	}
}
