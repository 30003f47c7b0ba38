package tensor

// A Carrier is a tensor that arranges the items of another one: in rows, as package ragged
// does, or with some of them missing, as package masked does. What a function computes of
// the axes inside of each item alone, it computes of the carried tensor:
//
//	items, axes := x.Carried()
//	if axes < x.Shape().Rank() { // items have axes of their own
//		y, err := x.Carry(f(items))
//	}
type Carrier interface {
	Tensor

	// Carried returns the items, and how many outer axes of the receiver are those of the
	// arrangement: the others are the last ones of the items.
	Carried() (items Tensor, axes int)

	// Carry returns the receiver's arrangement of other items, as many. Their own axes may be
	// others. Another number of items is an error, where it is known.
	Carry(items Tensor) (Tensor, error)
}
