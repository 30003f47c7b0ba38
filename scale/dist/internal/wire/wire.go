package wire

import "github.com/tenonml/tenon/dtype"

// A Transport moves bytes among the ranks of a group, which are numbered from 0. It is used by
// one goroutine at a time. Memory that is passed to it must not be used until the request is
// done.
type Transport interface {
	Rank() int
	Size() int

	// Send and Receive move bytes between two ranks, in the order in which they are called with
	// the same tag.
	Send(to int, tag Tag, b []byte) Request
	Receive(from int, tag Tag, b []byte) Request

	// Post leaves a notice with another rank, which Notice returns there. It does not wait
	// for that rank, and works while other requests are under way.
	Post(to int, notice []byte) error
	Notice() (from int, notice []byte, ok bool)

	// Split returns the transport of some of the ranks, in the given order. All ranks call it,
	// each with the group that it belongs to; groups with different numbers have no rank in
	// common.
	Split(number int, members []int) (Transport, error)

	// Close ends the use of the transport. After a failure it does not wait for anything.
	Close(failed bool) error
}

// A Tag distinguishes messages that are under way at the same time.
type Tag int

// Tags.
const (
	OfCollective   Tag = iota // a part of an operation of all ranks
	OfPointToPoint            // between two ranks only
	OfMeeting                 // what ranks tell each other before an operation; it may be shorter than the memory that receives it
)

// A Collective is a Transport that implements some collective operations itself. A method
// returns nil if it does not support the call. Counts and bytes are those of each rank, in
// order.
type Collective interface {
	AllReduce(dst, src []byte, d dtype.DType, combine string) Request
	ReduceScatter(dst, src []byte, counts []int, d dtype.DType, combine string) Request
	AllGather(dst []byte, sizes []int, src []byte) Request
	AllToAll(dst []byte, received []int, src []byte, sent []int) Request
	Broadcast(b []byte, root int) Request
}

// A Request is an operation under way.
type Request interface {
	// Done reports whether it has completed, and with which error. It does not wait.
	Done() (bool, error)
}

// All combines several requests.
type All []Request

// Done reports whether all requests have completed.
func (a All) Done() (bool, error) {
	done := true
	for i, r := range a {
		if r == nil {
			continue
		}
		ok, err := r.Done()
		if err != nil {
			return true, err
		}
		if ok {
			a[i] = nil
		}
		done = done && ok
	}
	return done, nil
}
