package ext_test

import (
	"testing"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/spectest"
	"github.com/tenonml/tenon/tensor"
)

// Masked is the smallest type that is of use.
type Masked struct {
	Values tensor.Tensor
	Mask   tensor.Tensor `tenon:"dtype=bool,shape=Values"`
}

func (m Masked) Spec() tenon.Spec { return ext.SpecOf(m) }
func (m Masked) String() string   { return ext.String(m) }

// Point has a value receiver, Graph a pointer receiver.
type Point struct {
	X, Y tensor.Tensor
}

func (p Point) Spec() tenon.Spec { return ext.SpecOf(p) }

type Graph struct {
	Nodes  map[string]tensor.Tensor `tenon:"name=nodes,shape=[n ...]"`
	Source tensor.Tensor            `tenon:"dtype=int64,shape=[edges]"`
	Target tensor.Tensor            `tenon:"dtype=int64,shape=[edges]"`
	Name   string
}

func (g *Graph) Spec() tenon.Spec { return ext.SpecOf(g) }

// Everything has a field of each kind.
type Everything struct {
	Bool     bool
	Int      int8
	Uint     uint16
	Float    float32
	Double   float64
	Text     string
	Bytes    []byte
	DType    dtype.DType
	Shape    shape.Shape
	Of       tenon.Spec
	Any      any `tenon:"static,oneof=int|string"`
	Wait     time.Duration
	Maybe    *int
	Names    []string
	Sizes    [2]int
	Table    map[string]float64
	Config   struct{ Depth int }
	Tensor   tensor.Tensor
	Value    tenon.Value
	Rows     *ragged.Tensor `tenon:"optional"`
	Dense    *tensor.Dense
	Point    Point
	Behind   *Point        `tenon:"optional"`
	Optional tensor.Tensor `tenon:"optional"`
	List     []tensor.Tensor
	Pair     [2]Point
	Map      map[string]Masked
	Layers   []struct {
		W, B tensor.Tensor
		Act  string
	}
	Tree *Tree
	Skip chan int `tenon:"-"`
}

type Tree struct {
	Leaf        tensor.Tensor `tenon:"optional"`
	Left, Right *Tree
}

func (e Everything) Spec() tenon.Spec { return ext.SpecOf(e) }

// Wrapper is a struct that is a single pointer.
type Wrapper struct{ Only *tensor.Dense }

func (w Wrapper) Spec() tenon.Spec { return ext.SpecOf(w) }

// Static has no Values at all.
type Static struct{ N int }

func (s Static) Spec() tenon.Spec { return ext.SpecOf(s) }

func init() {
	ext.Register[Masked]("ext_test.Masked")
	ext.Register[Point]("ext_test.Point")
	ext.Register[*Graph]("ext_test.Graph")
	ext.Register[Everything]("ext_test.Everything")
	ext.Register[Wrapper]("ext_test.Wrapper")
	ext.Register[Static]("ext_test.Static")
}

func everything() Everything {
	three := 3
	v := tensor.Vector([]float32{1, 2})
	p := Point{v, tensor.Scalar(1)}
	e := Everything{Bool: true, Int: -3, Uint: 60000, Float: 0.5, Double: 0.1, Text: "a", Bytes: []byte("xyz"), DType: dtype.Int8,
		Shape: shape.Of(2, -1), Of: tensor.NewSpec(dtype.Bool, shape.Of(3)), Any: "s", Wait: time.Second, Maybe: &three,
		Names: []string{"x", "y"}, Sizes: [2]int{4, 5}, Table: map[string]float64{"b": 1, "a": 2}, Tensor: v,
		Value: ragged.FromSlices([][]int64{{1}, {}}), Dense: tensor.Scalar(2.5).(*tensor.Dense), Point: p, Behind: &p,
		List: []tensor.Tensor{v, v}, Pair: [2]Point{p, p}, Map: map[string]Masked{"k.l": {v, tensor.Vector([]bool{true, false})}},
		Tree: &Tree{Left: &Tree{Leaf: v}},
	}
	e.Config.Depth = 7
	e.Layers = append(e.Layers, struct {
		W, B tensor.Tensor
		Act  string
	}{v, v, "relu"})
	return e
}

func TestLaws(t *testing.T) {
	v := tensor.Vector([]float32{1, 2})
	spectest.Laws(t, spectest.Options{}, Masked{v, tensor.Vector([]bool{true, false})}, Masked{tensor.Scalar(1.0), tensor.Scalar(true)},
		Masked{tensor.Vector([]float32{}), tensor.Vector([]bool{})})
	ids := tensor.Vector([]int64{0, 1})
	spectest.Laws(t, spectest.Options{}, &Graph{Nodes: map[string]tensor.Tensor{"b": v, "a.c": v}, Source: ids, Target: ids, Name: "g"},
		&Graph{Source: ids, Target: ids}, &Graph{Nodes: map[string]tensor.Tensor{"b": v}, Source: ids, Target: ids, Name: "g"})
	spectest.Laws(t, spectest.Options{}, Wrapper{tensor.Vector([]int{1})}, Wrapper{tensor.Vector([]float32{1})})
	spectest.Laws(t, spectest.Options{}, Static{1}, Static{2})
	other := everything()
	other.Rows, other.Optional, other.List, other.Map, other.Maybe, other.Behind = ragged.FromSlices([][]int64{{1}, {}}), v, nil, nil, nil, nil
	spectest.Laws(t, spectest.Options{}, everything(), other)
}
