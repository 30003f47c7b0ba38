package bad

import "github.com/tenonml/tenon"

// Number is not a struct.
type Number int

// Channel has a field that cannot be stored.
type Channel struct {
	V tenon.Value
	C chan int
}

// Hidden has a field that is not exported.
type Hidden struct {
	x tenon.Value
}

// Value returns the field.
func (h Hidden) Value() tenon.Value { return h.x }

// Tree is recursive.
type Tree struct {
	Leaf        tenon.Value
	Left, Right *Tree
}

// Keys has a map whose keys are not strings.
type Keys struct {
	M map[int]tenon.Value
}
