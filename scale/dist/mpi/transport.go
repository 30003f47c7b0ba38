//go:build linux || darwin

package mpi

import (
	"runtime"
	"unsafe"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/scale/dist/internal/wire"
)

// Handles and constants of the standard ABI, version 1.0 (MPI 5.0, appendix A).
const (
	commWorld    = 0x101
	errorsReturn = 0x143
	requestNull  = 0x180
	infoNull     = 0x130
	typeByte     = 0x247
	serialized   = 2048
	sharedMemory = 221 // MPI_COMM_TYPE_SHARED
)

var anySource = ^uintptr(0) // -1

var reductions = map[string]uintptr{"add": 0x21, "minimum": 0x22, "maximum": 0x23, "mul": 0x24, "logical_and": 0x30, "logical_or": 0x31}

var types = map[dtype.DType]uintptr{
	dtype.Float32: 0x210, dtype.Float64: 0x214, dtype.Complex64: 0x212, dtype.Complex128: 0x216, dtype.Bool: 0x238,
	dtype.Int8: 0x240, dtype.Uint8: 0x241, dtype.Int16: 0x248, dtype.Uint16: 0x249, dtype.Int32: 0x250, dtype.Uint32: 0x251, dtype.Int64: 0x258, dtype.Uint64: 0x259,
}

// native returns MPI's handles for a reduction of an element type. Extremes of floating-point
// numbers are not left to MPI, which does not specify what it does with NaN.
func native(d dtype.DType, combine string) (t, op uintptr, ok bool) {
	t, ok = types[d]
	op, known := reductions[combine]
	extreme, logical := combine == "maximum" || combine == "minimum", combine == "logical_and" || combine == "logical_or"
	switch {
	case !ok || !known, extreme && !d.IsInteger(), logical != (d == dtype.Bool):
		return 0, 0, false
	}
	return t, op, true
}

// transport is a communicator of MPI. Notices use a separate communicator.
type transport struct {
	*library
	comm, notices uintptr
	rank, size    int
}

func newTransport(l *library, comm, notices uintptr) (*transport, error) {
	t := &transport{library: l, comm: comm, notices: notices}
	n := new([2]int32)
	if err := l.call(l.CommRank, comm, at(&n[0])); err != nil {
		return nil, err
	}
	if err := l.call(l.CommSize, comm, at(&n[1])); err != nil {
		return nil, err
	}
	t.rank, t.size = int(n[0]), int(n[1])
	return t, l.call(l.CommSetErrhandler, comm, errorsReturn)
}

func (t *transport) Rank() int { return t.rank }
func (t *transport) Size() int { return t.size }

// request is an operation under way. Its memory is pinned until it has completed.
type request struct {
	*library
	handle uintptr
	flag   int32
	err    error
	pins   runtime.Pinner
}

// start begins an operation whose last argument is the request.
func (t *transport) start(r *request, f uintptr, args ...uintptr) wire.Request {
	r.pins.Pin(r)
	r.err = t.call(f, append(args, at(&r.handle))...)
	return r
}

// request returns a request that uses memory.
func (t *transport) request(used ...[]byte) *request {
	r := &request{library: t.library, handle: requestNull}
	for _, b := range used {
		if len(b) > 0 {
			r.pins.Pin(unsafe.SliceData(b))
		}
	}
	return r
}

// layout returns counts and displacements in multiples of unit, pinned.
func (r *request) layout(sizes []int, unit int) (counts, places uintptr) {
	n, at := len(sizes), 0
	list := make([]int64, 2*n)
	for i, s := range sizes {
		list[i], list[n+i] = int64(s/unit), int64(at)
		at += s / unit
	}
	r.pins.Pin(&list[0])
	return address(list), address(list[n:])
}

// Done tests the request.
func (r *request) Done() (bool, error) {
	if r.err == nil && r.handle != requestNull {
		if r.err = r.test(&r.handle, &r.flag); r.err == nil && r.flag == 0 {
			return false, nil
		}
	}
	r.pins.Unpin()
	return true, r.err
}

// address returns the address of the elements of a slice.
func address[T any](x []T) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(x))) }

func (t *transport) Send(to int, tag wire.Tag, b []byte) wire.Request {
	return t.start(t.request(b), t.Isend, address(b), uintptr(len(b)), typeByte, uintptr(to), uintptr(tag), t.comm)
}

func (t *transport) Receive(from int, tag wire.Tag, b []byte) wire.Request {
	return t.start(t.request(b), t.Irecv, address(b), uintptr(len(b)), typeByte, uintptr(from), uintptr(tag), t.comm)
}

func (t *transport) AllReduce(dst, src []byte, d dtype.DType, combine string) wire.Request {
	kind, op, ok := native(d, combine)
	if !ok {
		return nil
	}
	return t.start(t.request(dst, src), t.Iallreduce, address(src), address(dst), uintptr(len(src)/d.Size()), kind, op, t.comm)
}

func (t *transport) ReduceScatter(dst, src []byte, counts []int, d dtype.DType, combine string) wire.Request {
	kind, op, ok := native(d, combine)
	if !ok {
		return nil
	}
	r := t.request(dst, src)
	n, _ := r.layout(counts, 1)
	return t.start(r, t.IreduceScatter, address(src), address(dst), n, kind, op, t.comm)
}

func (t *transport) AllGather(dst []byte, sizes []int, src []byte) wire.Request {
	r := t.request(dst, src)
	if sizes == nil {
		return t.start(r, t.Iallgather, address(src), uintptr(len(src)), typeByte, address(dst), uintptr(len(src)), typeByte, t.comm)
	}
	n, places := r.layout(sizes, 1)
	return t.start(r, t.Iallgatherv, address(src), uintptr(len(src)), typeByte, address(dst), n, places, typeByte, t.comm)
}

func (t *transport) AllToAll(dst []byte, received []int, src []byte, sent []int) wire.Request {
	r := t.request(dst, src)
	sn, sp := r.layout(sent, 1)
	rn, rp := r.layout(received, 1)
	return t.start(r, t.Ialltoallv, address(src), sn, sp, typeByte, address(dst), rn, rp, typeByte, t.comm)
}

func (t *transport) Broadcast(b []byte, root int) wire.Request {
	return t.start(t.request(b), t.Ibcast, address(b), uintptr(len(b)), typeByte, uintptr(root), t.comm)
}

// Post starts sending a notice. Nobody waits for it: it is small enough to be sent at once.
func (t *transport) Post(to int, notice []byte) error {
	r := t.request(notice)
	t.start(r, t.Isend, address(notice), uintptr(len(notice)), typeByte, uintptr(to), 0, t.notices)
	if r.err != nil {
		return r.err
	}
	for range 16 { // lets the library send it
		if done, err := r.Done(); done {
			return err
		}
	}
	return nil
}

// status is the ABI's MPI_Status: source, tag and error, and space for the library.
type status struct {
	source int32
	_      [2]int32 // tag, error
	_      [5]int32
}

func (t *transport) Notice() (int, []byte, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, flag, n := new(status), new(int32), new(int64)
	if t.locked(t.Iprobe, anySource, 0, t.notices, at(flag), at(s)) != nil || *flag == 0 {
		return t.dead()
	}
	if t.locked(t.GetCount, at(s), typeByte, at(n)) != nil || *n <= 0 || *n > 1<<16 {
		return 0, nil, false
	}
	b := make([]byte, *n)
	if t.locked(t.Recv, address(b), uintptr(*n), typeByte, uintptr(s.source), 0, t.notices, 0) != nil {
		return 0, nil, false
	}
	return int(s.source), b, true
}

func (t *transport) Split(number int, members []int) (wire.Transport, error) {
	key := 0
	for i, m := range members {
		if m == t.rank {
			key = i
		}
	}
	comm := new(uintptr)
	if err := t.call(t.CommSplit, t.comm, uintptr(number), uintptr(key), at(comm)); err != nil {
		return nil, err
	}
	return newTransport(t.library, *comm, t.notices)
}

// Close finalizes MPI, except after a failure: then the process ends with an error, and so does
// the job.
func (t *transport) Close(failed bool) error {
	if failed {
		return nil
	}
	return t.call(t.Finalize)
}
