package derived

import (
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Config is static.
type Config struct{ Depth int }

// Point is a Value inside others.
type Point struct{ X, Y tensor.Tensor }

// Spec returns the Spec of the fields.
func (p Point) Spec() tenon.Spec { return ext.SpecOf(p) }

// Layer is a plain struct with Values and static data.
type Layer struct {
	W, B tensor.Tensor
	Act  string
}

// Base is embedded.
type Base struct {
	Weight tensor.Tensor `tenon:"name=weight"`
	Kind   string
}

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
	Any      any `tenon:"static"`
	Wait     time.Duration
	Maybe    *int
	Names    []string
	Sizes    [2]int
	Table    map[string]float64
	Config   Config
	Tensor   tensor.Tensor `tenon:"name=tensor"`
	Value    tenon.Value
	Rows     *ragged.Tensor `tenon:"optional"`
	Dense    *tensor.Dense
	Point    Point
	Behind   *Point        `tenon:"optional"`
	Optional tensor.Tensor `tenon:"optional"`
	List     []tensor.Tensor
	Pair     [2]Point
	Map      map[string]tensor.Tensor
	Layers   []Layer
	Deep     map[string][]*Layer
	Skip     chan int `tenon:"-"`
}

// Spec returns the Spec of the fields.
func (x Everything) Spec() tenon.Spec { return ext.SpecOf(x) }

// Three has three Values, for benchmarks of assembling.
type Three struct {
	A, B, C tensor.Tensor
	N       int
}

// Spec returns the Spec of the fields.
func (x Three) Spec() tenon.Spec { return ext.SpecOf(x) }

// Graph is a pointer type with embedded fields.
type Graph struct {
	Base
	Nodes map[string]tensor.Tensor
}

// Spec returns the Spec of the fields.
func (x *Graph) Spec() tenon.Spec { return ext.SpecOf(x) }

func init() {
	ext.Register[Point]("tenongen/derived.Point")
	ext.Register[Everything]("tenongen/derived.Everything")
	ext.Register[Three]("tenongen/derived.Three")
	ext.Register[*Graph]("tenongen/derived.Graph")
}
