package gemm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// families returns every family that can run here, by its name.
func families[T Element]() map[string]*family[T] {
	all := map[string]*family[T]{}
	for f, k := range table.Each() {
		switch m := any(all).(type) {
		case map[string]*family[float32]:
			m[f.String()] = k.f32
		case map[string]*family[float64]:
			m[f.String()] = k.f64
		default:
			all["generic"] = plain[T]()
		}
	}
	return all
}

// layout says how an operand of some rows and columns lies in its slice.
type layout int

const (
	rowMajor layout = iota
	colMajor
	gaps   // row-major, rows further apart than they are long
	sparse // neither rows nor columns are consecutive
	repeat // all rows are the same
)

// strides returns the strides and the number of elements.
func (l layout) strides(rows, cols int) (row, col, length int) {
	switch l {
	case colMajor:
		row, col = 1, rows
	case gaps:
		row, col = cols+3, 1
	case sparse:
		row, col = 2*cols+5, 2
	case repeat:
		row, col = 0, 1
	default:
		row, col = cols, 1
	}
	if rows == 0 || cols == 0 {
		return row, col, 0
	}
	return row, col, (rows-1)*row + (cols-1)*col + 1
}

// random fills n elements with small numbers; integers use their whole range, so that
// sums wrap around.
func random[T Element](rng *rand.Rand, n int) []T {
	x := make([]T, n)
	for i := range x {
		switch p := any(&x[i]).(type) {
		case *float32:
			*p = rng.Float32() - 0.5
		case *float64:
			*p = rng.Float64() - 0.5
		case *complex64:
			*p = complex(rng.Float32()-0.5, rng.Float32()-0.5)
		case *complex128:
			*p = complex(rng.Float64()-0.5, rng.Float64()-0.5)
		case *int8:
			*p = int8(rng.Uint32())
		case *uint16:
			*p = uint16(rng.Uint32())
		case *int32:
			*p = int32(rng.Uint32())
		case *int64:
			*p = int64(rng.Uint64())
		default:
			panic(fmt.Sprintf("no random values of type %T", x[i]))
		}
	}
	return x
}

// reference is the definition of a product.
func reference[T Element](p Params[T]) {
	for i := range p.M {
		for j := range p.N {
			sum := sumOf(&p, i, j)
			c := &p.C[i*p.CRow+j*p.CCol]
			v := p.Alpha * sum
			if p.Beta != 0 {
				v += p.Beta * *c
			}
			if p.Bias != nil {
				v += p.Bias[j]
			}
			one := []T{v}
			if p.Then != nil {
				p.Then(one)
			}
			*c = one[0]
		}
	}
}

// sumOf returns the sum for C[i,j]; that of float32 products is exact to float32.
func sumOf[T Element](p *Params[T], i, j int) (sum T) {
	if q, ok := any(p).(*Params[float32]); ok {
		var wide float64
		for k := range q.K {
			wide += float64(q.A[i*q.ARow+k*q.ACol]) * float64(q.B[k*q.BRow+j*q.BCol])
		}
		return any(float32(wide)).(T)
	}
	for k := range p.K {
		sum += p.A[i*p.ARow+k*p.ACol] * p.B[k*p.BRow+j*p.BCol]
	}
	return sum
}

// distance is how far two elements are apart; NaNs and equal infinities are 0 apart.
func distance[T Element](a, b T) float64 {
	if a == b || a != a && b != b {
		return 0
	}
	switch a := any(a).(type) {
	case float32:
		return math.Abs(float64(a) - float64(any(b).(float32)))
	case float64:
		return math.Abs(a - any(b).(float64))
	case complex64:
		d := a - any(b).(complex64)
		return math.Hypot(float64(real(d)), float64(imag(d)))
	case complex128:
		d := a - any(b).(complex128)
		return math.Hypot(real(d), imag(d))
	}
	return 1
}

// tolerance is the difference allowed for sums of k products of numbers below 1/2.
func tolerance[T Element](k int) float64 {
	n := float64(k) + 64 // a sum of n terms has n roundings
	switch any(*new(T)).(type) {
	case float32, complex64:
		return n * 0x1p-23
	case float64, complex128:
		return n * 0x1p-52
	}
	return 0
}

// build makes a product with random operands. What lies in the gaps of the slices is
// NaN in A and B, and a value that must survive in C.
func build[T Element](rng *rand.Rand, m, n, k int, a, b, c layout) Params[T] {
	p := Params[T]{M: m, N: n, K: k, Alpha: 1}
	var la, lb, lc int
	p.ARow, p.ACol, la = a.strides(m, k)
	p.BRow, p.BCol, lb = b.strides(k, n)
	p.CRow, p.CCol, lc = c.strides(m, n)
	p.A, p.B, p.C = random[T](rng, la), random[T](rng, lb), random[T](rng, lc)
	// Nothing may be read behind the slices either.
	p.A, p.B = guarded(p.A), guarded(p.B)
	return p
}

// guarded copies x in front of elements that spoil any sum they enter.
func guarded[T Element](x []T) []T {
	y := make([]T, len(x), len(x)+64)
	copy(y, x)
	rest := y[len(x):cap(y)]
	for i := range rest {
		switch v := any(&rest[i]).(type) {
		case *float32:
			*v = float32(math.NaN())
		case *float64:
			*v = math.NaN()
		}
	}
	return y[:len(x):len(x)]
}

// compare runs p on f and on the reference, and compares all of C, gaps included.
func compare[T Element](t *testing.T, f *family[T], p Params[T]) {
	t.Helper()
	want := p
	want.C = append([]T(nil), p.C...)
	reference(want)
	got := p
	got.C = append(make([]T, 0, len(p.C)+64), p.C...)
	p.check(nil, len(p.A), len(p.B))
	multiplyWith(f, got, nil, nil, nil)
	tol := tolerance[T](p.K)
	for i := range want.C {
		if d := distance(got.C[i], want.C[i]); !(d <= tol) {
			t.Fatalf("m=%d n=%d k=%d strides A %d,%d B %d,%d C %d,%d alpha %v beta %v: element %d of C is %v, want %v",
				p.M, p.N, p.K, p.ARow, p.ACol, p.BRow, p.BCol, p.CRow, p.CCol, p.Alpha, p.Beta, i, got.C[i], want.C[i])
		}
	}
	for i, v := range got.C[len(got.C):cap(got.C)] {
		if v != 0 {
			t.Fatalf("m=%d n=%d k=%d: element %d behind C was written", p.M, p.N, p.K, i)
		}
	}
}

// sizes covers every remainder of a tile and a little more than three tiles.
func edgeSizes(unit, tiles int) (s []int) {
	for i := 0; i <= unit+1; i++ {
		s = append(s, i)
	}
	for i := 2; i <= tiles; i++ {
		s = append(s, i*unit-1, i*unit, i*unit+1)
	}
	return s
}

func TestEdges(t *testing.T) {
	testEdges[float32](t)
	testEdges[float64](t)
}

func testEdges[T Element](t *testing.T) {
	for name, f := range families[T]() {
		t.Run(fmt.Sprintf("%T/%s", *new(T), name), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			for _, n := range edgeSizes(f.width, 3) {
				for _, m := range append(edgeSizes(f.rows, 2), 48, 50) {
					for _, k := range []int{0, 1, 2, 7} {
						compare(t, f, build[T](rng, m, n, k, rowMajor, rowMajor, rowMajor))
					}
				}
			}
		})
	}
}

func TestLayouts(t *testing.T) {
	testLayouts[float32](t)
	testLayouts[float64](t)
	testLayouts[int8](t)
	testLayouts[uint16](t)
	testLayouts[int32](t)
	testLayouts[int64](t)
	testLayouts[complex64](t)
	testLayouts[complex128](t)
}

func testLayouts[T Element](t *testing.T) {
	for name, f := range families[T]() {
		t.Run(fmt.Sprintf("%T/%s", *new(T), name), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(3, 4))
			two := T(1)
			two += two
			for _, a := range []layout{rowMajor, colMajor, gaps, sparse, repeat} {
				for _, b := range []layout{rowMajor, colMajor, gaps, sparse, repeat} {
					for _, c := range []layout{rowMajor, colMajor, gaps, sparse} {
						for _, s := range [][3]int{{1, 1, 1}, {1, 70, 21}, {70, 1, 21}, {3, 5, 7}, {53, 33, 9}, {1, 1, 40}} {
							p := build[T](rng, s[0], s[1], s[2], a, b, c)
							compare(t, f, p)
							p.Alpha, p.Beta, p.Bias = two, two+1, random[T](rng, p.N)
							p.Then = func(c []T) {
								for i := range c {
									c[i] += two
								}
							}
							compare(t, f, p)
							p.Beta = 0
							compare(t, f, p)
							p.Beta, p.Bias, p.Then = 1, nil, nil
							compare(t, f, p)
						}
					}
				}
			}
		})
	}
}

// Sizes beyond one block in every direction, with rows of A that conflict in the cache, and columns of it that
// are far apart.
func TestBlocks(t *testing.T) {
	for name, f := range families[float32]() {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(5, 6))
			for _, s := range [][3]int{{90, 40, 1700}, {60, 1060, 60}, {1, 4200, 70}, {70, 1, 8300}, {1, 700, 1500}, {650, 1, 1700}, {100, 70, 1024}, {85, 140, 512}, {85, 390, 512}, {116, 200, 512}, {2, 40, 5000}, {390, 66, 100}} {
				for _, a := range []layout{rowMajor, colMajor} {
					for _, b := range []layout{rowMajor, colMajor} {
						p := build[float32](rng, s[0], s[1], s[2], a, b, rowMajor)
						p.Bias = random[float32](rng, p.N)
						compare(t, f, p)
						p.Alpha, p.Beta = 2, 0.5
						compare(t, f, p)
					}
				}
			}
		})
	}
}

func TestNaNAndInf(t *testing.T) {
	inf := math.Inf(1)
	for name, f := range families[float64]() {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(7, 8))
			for _, s := range [][3]int{{1, 9, 5}, {9, 1, 5}, {20, 40, 17}, {60, 40, 17}} {
				for _, v := range []float64{math.NaN(), inf, -inf} {
					p := build[float64](rng, s[0], s[1], s[2], rowMajor, rowMajor, rowMajor)
					p.A[p.ARow*(p.M/2)+3] = v
					p.B[4*p.BRow+p.N-1] = 0
					p.B[3*p.BRow+p.N-1] = 0 // times infinity is NaN: a zero skips nothing
					compare(t, f, p)
					for i := range p.C {
						p.C[i] = v
					}
					compare(t, f, p) // Beta 0: C is not read
					p.Beta = 0.5
					compare(t, f, p)
				}
			}
		})
	}
}

func TestBatch(t *testing.T) {
	for name, f := range families[float32]() {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(9, 10))
			for _, s := range [][3]int{{1, 6, 4}, {5, 1, 4}, {7, 9, 3}, {70, 80, 90}, {1, 1, 6}, {1, 600, 1000}} {
				m, n, k := s[0], s[1], s[2]
				for _, batch := range [][]Batch{
					{{0, 1, 1, m * n}},
					{{1, 0, 0, 0}},
					{{3, m * k, k * n, m * n}},
					{{3, m * k, 0, m * n}},
					{{3, 0, k * n, m * n}},
					{{2, 0, 3 * k * n, 3 * m * n}, {3, m * k, k * n, m * n}},
					{{2, 3 * m * k, 0, 3 * m * n}, {3, m * k, 0, m * n}},
					{{2, 3 * m * k, k * n, 3 * m * n}, {3, m * k, 0, m * n}},
				} {
					for _, column := range []bool{false, true} {
						p := build[float32](rng, m, n, k, rowMajor, rowMajor, rowMajor)
						if column {
							p.CRow, p.CCol = 1, m
						}
						p.A, p.B, p.C = random[float32](rng, 6*m*k), random[float32](rng, 6*k*n), random[float32](rng, 6*m*n)
						p.Bias = random[float32](rng, n)
						want := append([]float32(nil), p.C...)
						each(batch, func(a, b, c int) {
							one := p
							one.A, one.B, one.C = p.A[a:], p.B[b:], want[c:]
							reference(one)
						})
						multiplyWith(f, p, batch, nil, nil)
						for i := range want {
							if distance(p.C[i], want[i]) > tolerance[float32](k) {
								t.Fatalf("m=%d n=%d k=%d batch %v: element %d is %v, want %v", m, n, k, batch, i, p.C[i], want[i])
							}
						}
					}
				}
			}
		})
	}
}

// each calls f with the offsets of every product of a batch.
func each(batch []Batch, f func(a, b, c int)) {
	if len(batch) == 0 {
		f(0, 0, 0)
		return
	}
	for i := range batch[0].Size {
		each(batch[1:], func(a, b, c int) { f(a+i*batch[0].A, b+i*batch[0].B, c+i*batch[0].C) })
	}
}
