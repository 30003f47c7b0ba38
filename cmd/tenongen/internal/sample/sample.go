package sample

import (
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/cmd/tenongen/internal/sample/derived"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

//go:generate go run github.com/tenonml/tenon/cmd/tenongen -type Everything,Three,Graph -output sample_tenon.go

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
	Config   derived.Config
	Tensor   tensor.Tensor `tenon:"name=tensor"`
	Value    tenon.Value
	Rows     *ragged.Tensor `tenon:"optional"`
	Dense    *tensor.Dense
	Point    derived.Point
	Behind   *derived.Point `tenon:"optional"`
	Optional tensor.Tensor  `tenon:"optional"`
	List     []tensor.Tensor
	Pair     [2]derived.Point
	Map      map[string]tensor.Tensor
	Layers   []derived.Layer
	Deep     map[string][]*derived.Layer
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
	derived.Base
	Nodes map[string]tensor.Tensor
}

// Spec returns the Spec of the fields.
func (x *Graph) Spec() tenon.Spec { return ext.SpecOf(x) }

func init() {
	ext.Register[Everything]("tenongen/generated.Everything")
	ext.Register[Three]("tenongen/generated.Three")
	ext.Register[*Graph]("tenongen/generated.Graph")
}
