package named_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/grad"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// Cases of the TypeScript library that the proposal for named dimensions came with, and
// of its successor, computed anew with NumPy where they were wrong.

type gtensor struct {
	Names  []string       `json:"names"`
	Shape  []int          `json:"shape"`
	Data   []float64      `json:"data"`
	GShape map[string]int `json:"gshape"`
	Loss   *float64       `json:"perExampleLoss"`
}

type gtensorCase struct {
	ID    string         `json:"id"`
	Op    string         `json:"op"`
	In    []gtensor      `json:"in"`
	Out   gtensor        `json:"out"`
	Order []string       `json:"order"`
	Add   map[string]int `json:"add"`
	Into  map[string]int `json:"into"`
	Dims  []string       `json:"dims"`
	Dim   string         `json:"dim"`
	To    string         `json:"to"`
	Eps   float64        `json:"eps"`
	Size  int            `json:"size"`
	Lower float64        `json:"lower"`
	Upper float64        `json:"upper"`
	Grad  *struct {
		DY []float64 `json:"dy"`
		DA []float64 `json:"da"`
		DB []float64 `json:"db"`
	} `json:"grad"`
}

func dynamic(names ...string) named.Dims {
	out := make([]named.Name, len(names))
	for i, n := range names {
		out[i] = named.Dynamic(n)
	}
	return named.By(out...)
}

func (g gtensor) tensor() T {
	if g.Data == nil {
		n := 1
		for _, k := range g.Shape {
			n *= k
		}
		g.Data = make([]float64, n)
	}
	return named.Of(tensor.Of(g.Data, g.Shape...), dynamic(g.Names...))
}

func (c gtensorCase) run(in []T) T {
	d := dynamic(append(slices.Clone(c.Dims), slices.DeleteFunc([]string{c.Dim}, func(s string) bool { return s == "" })...)...)
	switch c.Op {
	case "transpose":
		n := in[0].Dims().Names()
		slices.Reverse(n)
		return named.Order(in[0], n...)
	case "order":
		return named.Order(in[0], dynamic(c.Order...))
	case "broadcastTo":
		var to []named.Sized
		for _, n := range slices.Sorted(maps.Keys(c.Add)) {
			to = append(to, named.Dynamic(n).Of(c.Add[n]))
		}
		for _, n := range in[0].Dims().Names() {
			to = append(to, n.Of(in[0].Size(n)))
		}
		return named.BroadcastTo(in[0], to...)
	case "add":
		return named.Outer(ops.Add, in[0], in[1])
	case "mul":
		return named.Outer(ops.Mul, in[0], in[1])
	case "squaredDifference":
		return named.Outer(ops.SquaredDifference, in[0], in[1])
	case "merge":
		return d.Merge(in[0], named.Dynamic(c.To))
	case "split":
		var into []named.Sized
		for _, n := range slices.Sorted(maps.Keys(c.Into)) {
			into = append(into, named.Dynamic(n).Of(c.Into[n]))
		}
		return d.Split(in[0], into...)
	case "sum":
		return d.Sum(in[0])
	case "prod":
		return d.Prod(in[0])
	case "gather":
		return d.Take(in[0], named.Cast(in[1], dtype.Int64))
	case "softmax":
		return d.Softmax(in[0])
	case "softmaxCrossEntropyInt":
		return d.CrossEntropy(in[0], named.Cast(in[1], dtype.Int64))
	case "contract":
		return d.Contract(in[0], in[1])
	case "dotShape":
		return d.Dot(in[0], in[1])
	case "layerNorm":
		return d.LayerNorm(in[0], nil, nil, c.Eps)
	case "gradSqDiffToOnes":
		return grad.Of(func(p T) tensor.Tensor { return ops.Sum(named.SquaredDifference(1, p)) })(in[0])
	case "triangular":
		return named.Triangle(named.Dynamic("Pos1").Of(c.Size), named.Dynamic("Pos2").Of(c.Size), 0, c.Lower, c.Upper)
	case "pointWiseEval": // interpolation between points, linear in each direction
		distance := named.Map(ops.Abs, named.Outer(ops.Sub, in[1], in[2]))
		near := dynamic("rep").Prod(named.Sub(1, distance))
		return dynamic("pointId").Dot(near, in[0])
	}
	return nil
}

func TestGTensorCases(t *testing.T) {
	text, err := os.ReadFile("testdata/gtensor_cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []gtensorCase
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) != 37 {
		t.Errorf("there are %d cases", len(cases))
	}
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			in := make([]T, len(c.In))
			for i, g := range c.In {
				in[i] = g.tensor()
			}
			switch c.Op {
			case "gshape":
				if !maps.Equal(c.Out.GShape, in[0].GShape()) {
					t.Errorf("got %v", in[0].GShape())
				}
				return
			case "poly2": // Σ (t - (x·a)(x·b))² / 2
				d := dynamic("rep")
				y := named.Mul(d.Dot(in[0], in[2]), d.Dot(in[0], in[3]))
				loss := ops.Div(ops.Sum(named.SquaredDifference(in[1], y)), 2.0)
				if got := tensor.Item[float64](loss); got != *c.Out.Loss {
					t.Errorf("got %v, want %v", got, *c.Out.Loss)
				}
				return
			}
			got := c.run(in)
			if got == nil {
				t.Fatalf("operation %s", c.Op)
			}
			want := c.Out.tensor()
			if c.Op == "transpose" || c.Op == "order" {
				if got.Dims() != want.Dims() {
					t.Errorf("got the order %v, want %v", got.Dims(), want.Dims())
				}
			}
			if err := close6(want, got); err != nil && c.Op != "dotShape" {
				t.Error(err)
			}
			if c.Op == "dotShape" && !maps.Equal(want.GShape(), got.GShape()) {
				t.Errorf("got %v, want %v", got.Spec(), want.Spec())
			}
			if c.Grad != nil {
				dy := named.Of(tensor.Of(c.Grad.DY, c.Out.Shape...), dynamic(c.Out.Names...))
				_, pull, err := grad.VJP(func(in []T) T { return c.run(in) }, in)
				if err != nil {
					t.Fatal(err)
				}
				d := tenon.Must(pull(dy))
				for i, want := range [][]float64{c.Grad.DA, c.Grad.DB} {
					w := named.Of(tensor.Of(want, c.In[i].Shape...), dynamic(c.In[i].Names...))
					if err := close6(w, d[i]); err != nil {
						t.Errorf("gradient %d: %v", i, err)
					}
				}
			}
		})
	}
}

// close6 compares up to the order of dimensions and six digits.
func close6(want, got T) error {
	g, err := tenon.Try(func() T { return named.Order(got, want.Dims()) })
	if err != nil {
		return err
	}
	a, b := tensor.Data[float64](named.Unnamed(want, want.Dims())), tensor.Data[float64](named.Unnamed(g, want.Dims()))
	if !want.Shape().Equal(g.Shape()) {
		return fmt.Errorf("got %v, want %v", g.Spec(), want.Spec())
	}
	for i := range a {
		if math.Abs(a[i]-b[i]) > 1e-6*(1+math.Abs(a[i])) {
			return fmt.Errorf("got %v, want %v", g, want)
		}
	}
	return nil
}
