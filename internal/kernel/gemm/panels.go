package gemm

import (
	"unsafe"

	"github.com/tenonml/tenon/internal/throw"
)

// Panels is a matrix B[K,N] in the form that tiles read, for callers that multiply by it
// several times, or whose matrices are so small that [Multiply] would spend more time
// dividing the work than doing it. It must be used by one goroutine at a time. A copy of it
// shares its memory and may be used by another goroutine as long as neither packs again. The
// zero value is ready for Pack and View.
type Panels[T Element] struct {
	// Past writes the results of Times with non-temporal stores where they fill lines and are not
	// read. It is for results that no cache will hold until they are needed.
	Past bool

	k, n int
	b    []T
	row  int // elements from one row to the next
	step int // elements from one panel to the next
	buf  []T
	f    *family[T]
	t    tile[T]

	table [32]float32 // for Powers
}

// callWork is the number of multiply-adds that one kernel call may perform before the
// goroutine can be preempted: some 30 µs with long vectors. A call costs some 40 ns.
const callWork = 1 << 21

// Pack copies a matrix of k rows and n columns, whose element [i,j] is b[i*row+j*col].
func (p *Panels[T]) Pack(b []T, k, n, row, col int) {
	p.take(b, k, n, row, col)
	p.pack(b, k, n, row, col)
}

func (p *Panels[T]) pack(b []T, k, n, row, col int) {
	w := p.f.width
	p.row, p.step = w, k*w
	p.b = sized(&p.buf, (n+w-1)/w*k*w)
	for j := 0; j < n && k > 0; j += w {
		p.f.packColumns(p.b[j*k:][:k*w], b[j*col:], k, min(w, n-j), row, col)
	}
}

// View makes p a matrix whose rows are consecutive elements of b. b must not change while p is
// used.
func (p *Panels[T]) View(b []T, k, n, row int) {
	p.take(b, k, n, row, 1)
	p.view(b, row)
}

func (p *Panels[T]) view(b []T, row int) { p.b, p.row, p.step = b, row, p.f.width }

// Take is Pack if the matrix will be multiplied by many rows of A, or if its rows would evict each
// other from the first-level cache. Otherwise it is View, because a copy would not pay off.
func (p *Panels[T]) Take(b []T, k, n, row, rowsOfA int) {
	if rowsOfA < packFrom && (k < 48 || !conflicts(row*int(unsafe.Sizeof(p.t.alpha)))) {
		p.View(b, k, n, row)
		return
	}
	p.Pack(b, k, n, row, 1)
}

func (p *Panels[T]) take(b []T, k, n, row, col int) {
	e := newExtent("B", k, row, n, col)
	e.within(len(b))
	p.k, p.n = k, n
	p.choose()
}

// choose selects the family that this process uses.
func (p *Panels[T]) choose() {
	if p.f == nil {
		p.f = familyOf[T]()
	}
}

// Times computes c[i,j] = alpha sum_l a[i,l] B[l,j] + beta c[i,j] for i < m, j < n and l < k on the
// calling goroutine, where n and k may be less than the size of B. Element [i,l] of the first
// matrix is a[i*aRow+l*aCol]; rows of c are consecutive and start cRow apart. With beta 0, what c
// held does not matter. Sums are in the same order as those of [Multiply] if k is at most 1024 for
// float32 or 512 for float64.
func (p *Panels[T]) Times(c []T, cRow int, a []T, aRow, aCol, m, n, k int, alpha, beta T) {
	p.product(c, cRow, a, aRow, aCol, m, n, Runs{1, k, 0}, alpha, beta)
}

// Runs says how the columns of a matrix lie: Count runs of Len columns, which begin Apart elements
// after each other. Runs may overlap.
type Runs struct{ Count, Len, Apart int }

// TimesRuns is Times for a first matrix whose element [i,l] is
// a[i*aRow + l/r.Len*r.Apart + l%r.Len*aCol], with alpha 1 and as many steps as it has columns. The
// order of sums is that of one run of all columns.
func (p *Panels[T]) TimesRuns(c []T, cRow int, a []T, aRow, aCol, m, n int, r Runs, beta T) {
	p.product(c, cRow, a, aRow, aCol, m, n, r, 1, beta)
}

// product checks its arguments and computes C.
func (p *Panels[T]) product(c []T, cRow int, a []T, aRow, aCol, m, n int, r Runs, alpha, beta T) {
	k := r.Count * r.Len
	if n > p.n || k > p.k {
		throw.Bug("gemm: %d rows and %d columns of a matrix that has %d and %d", k, n, p.k, p.n)
	}
	e := newExtent("A", m, aRow, r.Len, aCol)
	e.repeat(r.Count, r.Apart)
	e.within(len(a))
	e = newExtent("C", m, cRow, n, 1)
	e.within(len(c))
	switch {
	case m == 0 || n == 0:
		return
	case m > 1 && cRow < n:
		throw.Bug("gemm: rows of C have %d elements and start %d apart", n, cRow)
	case k == 0:
		for i := range m {
			for j := range n {
				if c[i*cRow+j] *= beta; beta == 0 {
					c[i*cRow+j] = 0
				}
			}
		}
		return
	}
	p.t.runs, p.t.leap = r.Count, (r.Apart-r.Len*aCol)*int(unsafe.Sizeof(alpha))
	p.times(c, cRow, a, aRow, aCol, m, n, r.Len, alpha, beta)
	p.t.runs = 1
}

// times is Times for arguments that have been checked and are not empty.
func (p *Panels[T]) times(c []T, cRow int, a []T, aRow, aCol, m, n, k int, alpha, beta T) {
	p.t.alpha, p.t.beta, p.t.scaled, p.t.readC = alpha, beta, boolToInt(alpha != 1), boolToInt(beta != 0)
	if p.Past && beta == 0 && uintptr(unsafe.Pointer(&c[0]))%line == 0 && cRow*int(unsafe.Sizeof(alpha))%line == 0 {
		p.t.readC = 2
	}
	p.tiles(c, cRow, a, aRow, aCol, m, n, k, nil)
}

// tiles computes the tiles of a product, or powers of two if sums is not nil.
func (p *Panels[T]) tiles(c []T, cRow int, a []T, aRow, aCol, m, n, k int, sums []T) {
	t, f := &p.t, p.f
	size := int(unsafe.Sizeof(t.alpha))
	t.k, t.aRow, t.aCol, t.bRow, t.cRow = k, aRow*size, aCol*size, p.row*size, cRow*size
	for j, panel := 0, 0; j < n; j, panel = j+f.width, panel+1 {
		t.cols = min(f.width, n-j)
		t.b = at(p.b, panel*p.step)
		v, rows := f.variant(t.cols)
		if sums != nil {
			v, rows = powers, f.rows
			if t.cols < f.width {
				v = powersEdge
			}
		}
		by := cutRows(m, rows)
		i := 0
		for x := 0; x < by.tiles; x += t.count {
			rows, alike := by.from(x)
			t.count = f.together(alike, rows, max(1, t.runs)*k)
			t.a, t.c = at(a, i*aRow), at(c, i*cRow+j)
			t.ahead, t.aheadStep, t.aheadNext = t.a, 0, 0
			if next := i + rows; j == 0 && next < m && aCol == 1 {
				t.ahead, t.aheadStep, t.aheadNext = at(a, next*aRow), line, rows*aRow*size
			}
			if sums != nil {
				t.sums = &sums[PowerLanes*i]
			}
			f.tile(v, rows, t)
			i += t.count * rows
		}
	}
	t.a, t.b, t.c, t.ahead, t.sums, t.table = nil, nil, nil, nil, nil, nil
}

// Release drops the reference to the matrix, so that an idle Panels does not keep it alive.
func (p *Panels[T]) Release() { p.b = nil }
