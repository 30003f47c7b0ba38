package spectest_test

import (
	"fmt"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/spectest"
	"github.com/tenonml/tenon/tensor"
)

// seen is a testing.TB that prints what it is told, so that the example can show it.
type seen struct{ testing.TB }

func (seen) Helper() {}

func (seen) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// unfinished is a Value whose Spec is not written yet.
type unfinished struct{ x tensor.Tensor }

func (v unfinished) Spec() tenon.Spec { return nil }

// A test of a type has one call, with a few of its values that differ in sizes and static
// data, and an empty one:
//
//	func TestLaws(t *testing.T) { spectest.Laws(t, spectest.Options{}, graphs.New(3), graphs.Empty()) }
//
// A type that keeps the laws is silent. One that does not is told which it breaks.
func ExampleLaws() {
	t := seen{}
	spectest.Laws(t, spectest.Options{}, tensor.Of([]float64{1, 2, 3}), tensor.Of([]int8{}))
	fmt.Println("tensors keep the laws")
	spectest.Laws(t, spectest.Options{}, unfinished{tensor.Of([]bool{true})})
	// Output:
	// tensors keep the laws
	// value 0 (spectest_test.unfinished): spec: the Spec is nil
}
