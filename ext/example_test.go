package ext_test

import (
	"fmt"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Degrees are angles. They are a tensor, and remember whether they have been brought into
// one turn.
type Degrees struct {
	Value   tensor.Tensor `tenon:"dtype=float"`
	Reduced bool
}

func init() { ext.Register[Degrees]("example.com/angle.Degrees") }

// Spec returns the type of the angles: that of their numbers, and whether they are reduced.
func (d Degrees) Spec() tenon.Spec { return ext.SpecOf(d) }

// DType returns the element type.
func (d Degrees) DType() dtype.DType { return d.Value.DType() }

// Shape returns the shape.
func (d Degrees) Shape() shape.Shape { return d.Value.Shape() }

// HandleOp adds angles, and refuses what has no meaning.
func (d Degrees) HandleOp(c *op.Call) ([]tenon.Value, error) {
	x, okx := c.Value(0).(Degrees)
	y, oky := c.Value(1).(Degrees)
	if c.Op.Name != "add" || !okx || !oky {
		return nil, op.NotHandled
	}
	return op.One(Degrees{Value: op.Apply(c, x.Value, y.Value)})
}

// A struct with a Spec method, registered under a name, is a type of Value. With HandleOp it
// takes part in operations; in traced functions, too, which know nothing of it.
func Example() {
	turn := function.New(func(x, y Degrees) Degrees {
		sum := ops.Add(x, y).(Degrees)
		return Degrees{Value: ops.Mod(sum.Value, 360), Reduced: true}
	})
	x := Degrees{Value: tensor.Of([]float64{350, 10})}
	y := Degrees{Value: tensor.Of([]float64{20, 15})}
	z := turn.Call(x, y)
	fmt.Println(z.Value, z.Reduced)
	fmt.Println(z.Spec())
	// Output:
	// [10. 25.] float64[2] true
	// Degrees{Value: float64[2], Reduced: true}
}

// Values of any registered type are stacked, and their rows taken, component by component.
func ExampleStack() {
	north, east := Degrees{Value: tensor.Scalar(0.0)}, Degrees{Value: tensor.Scalar(90.0)}
	both := tenon.Must(ext.Stack(north, east))
	fmt.Println(both.Value)
	fmt.Println(tenon.Must(ext.Row(both, 1)).Value)
	// Output:
	// [ 0. 90.] float64[2]
	// 90.0 float64[]
}

// New fills in defaults and checks what tags promise.
func ExampleNew() {
	_, err := ext.New(Degrees{Value: tensor.Of([]string{"east"})})
	fmt.Println(err != nil)
	// Output: true
}
