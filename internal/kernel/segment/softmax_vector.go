package segment

import (
	"math"
	"unsafe"
)

// floatKernels are the vector kernels for float32 or float64.
type floatKernels[T float32 | float64] struct {
	rowKernels[T]

	expNear func(dst, x *T, n int) int // e^x, stopping at an x that is NaN or far from 0
	exp     func(dst, x *T, n int)
	log     func(dst, x *T, n int)

	mul, sub rowwise[T]

	// Optional: these scale one piece of a softmax while computing the exponentials of the next.
	inverseMark                func(own, x *T, first int64, splits *int64, rows int, scratch, marks *byte, next *T) int
	scaleAhead, scaleAheadPast func(dst, x *T, n int, marks *byte, own, e, next *T, nextN int) int
}

// A rowwise operation combines each row with one number. It uses spread if there is one, and
// otherwise kernel, which reads and writes whole vectors. spreadPast and past use non-temporal
// stores; past takes a stage like those of movers.
type rowwise[T float32 | float64] struct {
	spread, spreadPast func(dst, x, c *T, splits *int64, rows int, marks *byte, own *T)
	kernel             func(dst *byte, x, c *T, splits *int64, rows int)
	past               func(dst *byte, x, c *T, splits *int64, rows int, stage *byte) int
}

// A normalizer computes softmax and its relatives, one piece of rows at a time.
type normalizer[T float32 | float64] struct {
	k      *floatKernels[T]
	ws     *workspace
	kind   normalization
	out    []T
	x      []T
	splits []int64
	flow   flow
	ahead  int // number of exponentials of the next piece already computed
}

// A normalization names what a normalizer computes.
type normalization uint8

const (
	softmax normalization = iota
	logSoftmax
	logSumExp // one result for each row
)

// normalizeVectorised computes n for rows of inner size 1 if there are kernels for the element
// type, and reports whether there are.
func normalizeVectorised[T any](n normalization, out, values []T, splits []int64) bool {
	if len(values) == 0 {
		return false
	}
	// There is no lower limit on the number of values: the last bits of a row must not depend on
	// how many rows there are.
	switch x := any(values).(type) {
	case []float32:
		if k := table.Now().f32; k != nil {
			normalizeRows(k, n, any(out).([]float32), x, splits)
			return true
		}
	case []float64:
		if k := table.Now().f64; k != nil {
			normalizeRows(k, n, any(out).([]float64), x, splits)
			return true
		}
	}
	return false
}

func normalizeRows[T float32 | float64](k *floatKernels[T], kind normalization, out, x []T, splits []int64) {
	f := flowFor(len(out) * int(unsafe.Sizeof(*new(T))))
	eachRows(splits, 1, func(lo, hi int) {
		n := normalizer[T]{k: k, ws: workspaces.Get().(*workspace), kind: kind, out: out, x: x, splits: splits, flow: f}
		defer workspaces.Put(n.ws)
		defer f.arrive()
		elements := blockBytes / int(unsafe.Sizeof(*new(T)))
		average := averageRows(splits, lo, hi, elements)
		size := func(lo, hi int) int { return int(splits[hi] - splits[lo]) }
		// Ranges are as large as those of sums, because the exponentials of the first piece of each
		// range cannot be computed ahead.
		for end := blockEnd(splits, lo, hi, elements, average); lo < hi; {
			next := blockEnd(splits, end, hi, elements, average)
			switch {
			case size(lo, end) > elements:
				n.longRow(lo)
			case size(end, next) > elements:
				n.block(lo, end, end)
			default:
				n.block(lo, end, next)
			}
			lo, end = end, next
		}
	})
}

// block processes the rows [lo, hi), which fit into the buffers, and may compute exponentials of
// the rows [hi, next), which fit too.
func (n *normalizer[T]) block(lo, hi, next int) {
	rows := hi - lo
	splits := n.splits[lo : hi+1]
	from, to := int(splits[0]), int(splits[rows])
	size := to - from
	if size == 0 && n.kind != logSumExp {
		return
	}
	e, y, spare := view[T](n.ws.a[:]), view[T](n.ws.b[:]), view[T](n.ws.c[:])
	high, sum := view[T](n.ws.row1[:])[:rows], view[T](n.ws.row2[:])[:rows]
	x := window(n.x, from, to, spare)

	// Exponentials of values near 0 need no shift. Finding the largest value of each row would cost
	// another pass.
	near := n.kind != logSoftmax
	if left := size - n.ahead; near && left > 0 {
		near = n.k.expNear(&e[n.ahead], &x[n.ahead], left) == left
	}
	n.ahead = 0
	if !near {
		n.k.reducers[reduceMax].run(n.ws, high, x, splits, from, plainMax(x, splits, from, high))
		n.combine(n.k.sub, through, y[:size], x, y, high, splits)
		n.k.exp(&e[0], &y[0], size)
	}
	sums := reduceSum
	if n.kind == softmax {
		if n.k.inverseMark != nil {
			n.scale(e, splits, n.x[to:n.splits[next]])
			return
		}
		sums = reduceInverse
	}
	n.k.reducers[sums].run(n.ws, sum, e, splits, from, nil)
	switch n.kind {
	case softmax:
		n.combine(n.k.mul, n.flow, n.out[from:to], e, y, sum, splits)
	case logSoftmax:
		n.k.log(&sum[0], &sum[0], rows)
		n.combine(n.k.sub, n.flow, n.out[from:to], y, e, sum, splits)
	case logSumExp:
		n.k.log(&sum[0], &sum[0], rows)
		if !near {
			for i, m := range high {
				sum[i] = addMax(sum[i], m)
			}
		}
		copy(n.out[lo:hi], sum)
	}
}

// scale divides the rows of e by their sums. At the same time it replaces e by the exponentials of
// next, up to the first value that is not near 0.
func (n *normalizer[T]) scale(e []T, splits []int64, next []T) {
	ws, rows := n.ws, len(splits)-1
	from, size := splits[0], int(splits[rows]-splits[0])
	own, marks := view[T](ws.own[:]), ws.marks[:size+64]
	clear(marks)
	batch := n.k.reducers[reduceInverse].batch
	whole := rows - rows%batch
	count := n.k.inverseMark(&own[0], &e[0], from, &splits[0], whole, &ws.vectors[0], &marks[0], unsafe.SliceData(next))
	if whole < rows {
		// The remaining rows form a batch padded with empty rows.
		for i := range batch + 1 {
			ws.splits[i] = splits[min(whole+i, rows)]
		}
		n.k.inverseMark(&own[count], &e[0], from, &ws.splits[0], batch, &ws.vectors[0], &marks[0], unsafe.SliceData(next))
	}
	kernel := n.k.scaleAhead
	if n.flow == past {
		kernel = n.k.scaleAheadPast
	}
	left := kernel(&n.out[from], &e[0], size, &marks[0], &own[0], &e[0], unsafe.SliceData(next), len(next))
	n.ahead = len(next) - left
}

// combine applies o to the rows of x and the numbers c and writes the result to out. A kernel that
// writes whole vectors with ordinary stores goes through buf, unless buf is out, because out may be
// followed by rows that have not been read yet.
func (n *normalizer[T]) combine(o rowwise[T], f flow, out, x, buf, c []T, splits []int64) {
	rows := len(splits) - 1
	switch {
	case len(out) == 0:
	case o.spread != nil && f == past:
		o.spreadPast(&out[0], &x[0], &c[0], &splits[0], rows, &n.ws.marks[0], &view[T](n.ws.own[:])[0])
	case o.spread != nil:
		o.spread(&out[0], &x[0], &c[0], &splits[0], rows, &n.ws.marks[0], &view[T](n.ws.own[:])[0])
	case f == past:
		finishPast(bytesOf(out), n.ws.c[:], func(dst, stage *byte) int {
			return o.past(dst, &x[0], &c[0], &splits[0], rows, stage)
		})
	default:
		o.kernel((*byte)(unsafe.Pointer(&buf[0])), &x[0], &c[0], &splits[0], rows)
		if &out[0] != &buf[0] {
			copy(out, buf)
		}
	}
}

// plainMax returns a function that finds the largest element of a row, for rows that the kernel
// skips.
func plainMax[T float32 | float64](x []T, splits []int64, from int, out []T) func(r int) {
	return func(r int) { out[r] = maxOf(x[int(splits[r])-from:int(splits[r+1])-from], lowest[T]()) }
}

// addMax adds the shift to the logarithm of a shifted sum. If the shift is infinite, it is the
// result.
func addMax[T float32 | float64](log, m T) T {
	if math.IsInf(float64(m), 0) {
		return m
	}
	return log + m
}

// longRow processes row r piece by piece, because it does not fit into the buffers.
func (n *normalizer[T]) longRow(r int) {
	from, to := int(n.splits[r]), int(n.splits[r+1])
	row := n.x[from:to]
	high := n.k.reduce(reduceMax, row)
	e, y, spare := view[T](n.ws.a[:]), view[T](n.ws.b[:]), view[T](n.ws.c[:])
	const pieceElements = blockBytes / 8
	var sums []T
	for at := 0; at < len(row); at += pieceElements {
		end := min(at+pieceElements, len(row))
		splits := [2]int64{0, int64(end - at)}
		x := window(row, at, end, spare)
		n.combine(n.k.sub, through, y[:end-at], x, y, []T{high}, splits[:])
		n.k.exp(&e[0], &y[0], end-at)
		var sum [1]T
		n.k.reducers[reduceSum].run(n.ws, sum[:], e, splits[:], 0, nil)
		sums = append(sums, sum[0])
		switch n.kind {
		case softmax:
			copy(n.out[from+at:from+end], e)
		case logSoftmax:
			copy(n.out[from+at:from+end], y)
		}
	}
	total := joinPairs(reduceSum, sums)
	if n.kind == logSumExp {
		n.out[r] = addMax(T(math.Log(float64(total))), high)
		return
	}
	apply, c := n.k.mul, 1/total
	if n.kind == logSoftmax {
		apply, c = n.k.sub, T(math.Log(float64(total)))
	}
	for at := from; at < to; at += pieceElements {
		end := min(at+pieceElements, to)
		splits := [2]int64{0, int64(end - at)}
		x := window(n.out, at, end, spare)
		n.combine(apply, through, y[:end-at], x, y, []T{c}, splits[:])
		writeOut(n.flow, n.out[at:end], y)
	}
}
