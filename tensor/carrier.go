package tensor

// A Carrier is a tensor that arranges the items of another one: in rows, as in package ragged, or
// with some of them missing, as in package masked. A function that works only on the axes inside
// each item can be applied to the carried tensor:
//
//	items, axes := x.Carried()
//	if axes < x.Shape().Rank() { // items have axes of their own
//		y, err := x.Carry(f(items))
//	}
type Carrier interface {
	Tensor

	// Carried returns the items, and the number of outer axes of the receiver that belong to the
	// arrangement. The remaining axes are the last ones of the items.
	Carried() (items Tensor, axes int)

	// Carry returns the same arrangement of other items. There must be as many items as before, if
	// their number is known; the axes of the items may differ.
	Carry(items Tensor) (Tensor, error)
}
