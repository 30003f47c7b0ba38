package ext_test

import (
	"fmt"
	"reflect"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ext"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// Interval is what lies between two numbers.
type Interval struct{ Low, High tensor.Tensor }

func init() { ext.Register[Interval]("example.com/interval.Interval") }

// Spec returns the Specs of both ends.
func (x Interval) Spec() tenon.Spec { return ext.SpecOf(x) }

// DType returns the element type of the ends.
func (x Interval) DType() dtype.DType { return x.Low.DType() }

// Shape returns the shape of the ends.
func (x Interval) Shape() shape.Shape { return x.Low.Shape() }

func interval(low, high float64) Interval {
	return Interval{tensor.Scalar(low), tensor.Scalar(high)}
}

// Handlers for classes of operations: increasing functions, sums, assertions, and what two intervals do.
func ExampleHandleBinary() {
	both := func(c *op.Call, x Interval) (tenon.Value, error) {
		return Interval{op.Apply(c, x.Low), op.Apply(c, x.High)}, nil
	}
	for _, remove := range []func(){
		tenon.Must(ext.HandleUnary(both)), tenon.Must(ext.HandleReduction(both)), tenon.Must(ext.HandleAssert(both)),
		tenon.Must(ext.HandleBinary(func(c *op.Call, x, y Interval) (tenon.Value, error) {
			return Interval{op.Apply(c, x.Low, y.Low), op.Apply(c, x.High, y.High)}, nil
		})),
	} {
		defer remove()
	}
	fmt.Println(ops.Sqrt(interval(4, 9)).(Interval).High)
	fmt.Println(ops.Add(interval(1, 2), interval(10, 20)).(Interval).High)
	// Output:
	// 3.0 float64[]
	// 22.0 float64[]
}

// A number is the interval of itself where one is asked for.
func ExampleCast() {
	remove, err := ext.Cast(func(x tensor.Tensor) (Interval, error) { return Interval{x, x}, nil }, ext.CastOptions{Explicit: true})
	if err != nil {
		panic(err)
	}
	defer remove()
	x, err := ext.Convert[Interval](tensor.Scalar(3.0))
	fmt.Println(x.Low, x.High, err)
	// Output:
	// 3.0 float64[] 3.0 float64[] <nil>
}

// A type whose fields are known only when the program runs.
func ExampleDeclare() {
	fields := reflect.StructOf([]reflect.StructField{
		{Name: "Count", Type: reflect.TypeFor[tensor.Tensor](), Tag: `tenon:"dtype=int64"`},
		{Name: "Unit", Type: reflect.TypeFor[string]()},
	})
	measure, err := ext.Declare("example.com/measure", fields, ext.Options{Version: 1})
	if err != nil {
		panic(err)
	}
	defer measure.Forget()
	x, err := measure.New(map[string]any{"Count": tensor.Scalar(int64(3)), "Unit": "m"})
	fmt.Println(measure.Fields(), err)
	fmt.Println(x.Spec())
	// Output:
	// [Count Unit] <nil>
	// measure{Count: int64[], Unit: "m"}
}
