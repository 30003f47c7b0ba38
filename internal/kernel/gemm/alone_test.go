package gemm

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// Rows and columns of a product have the bits that they have alone.
func TestRowsAndColumnsStandAlone(t *testing.T) {
	standAlone[float32](t)
	standAlone[float64](t)
}

func standAlone[T float32 | float64](t *testing.T) {
	for name, f := range families[T]() {
		t.Run(fmt.Sprintf("%T/%s", *new(T), name), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(21, 22))
			sizes := [][2]int{{1, 1}, {1, 7}, {2, 3}, {4, 4}, {7, 9}, {16, 8}, {33, 17}, {70, 64}, {100, 10}, {1, 1030}, {2, 1700}, {40, 2100}}
			if testing.Short() {
				sizes = sizes[:9]
			}
			for _, s := range sizes {
				layouts := []layout{rowMajor, colMajor, sparse}
				if s[0]*s[1] > 1000 {
					layouts = layouts[:2]
				}
				for _, a := range layouts {
					for _, b := range layouts {
						p := build[T](rng, 40, s[0], s[1], a, b, rowMajor)
						rowsAlone(t, f, p)
						p.Bias = random[T](rng, p.N)
						p.Then = func(c []T) {
							for i, v := range c {
								c[i] = v * v
							}
						}
						rowsAlone(t, f, p)
						p.Alpha, p.Beta = 0.7, 0.3
						rowsAlone(t, f, p)
					}
				}
			}
		})
	}
}

// rowsAlone compares the first rows of p, for every number of them and in both orders of C, with the
// products of one row, and those with the products of one row and one column.
func rowsAlone[T Element](t *testing.T, f *family[T], p Params[T]) {
	t.Helper()
	rows, elements := make([]T, len(p.C)), make([]T, len(p.C))
	for i := range p.M {
		row := p
		row.M, row.A, row.C = 1, p.A[i*p.ARow:], rows[i*p.CRow:]
		copy(row.C, p.C[i*p.CRow:][:p.N])
		multiplyWith(f, row, nil, nil, nil)
		for j := range p.N {
			one := row
			one.N, one.B, one.C = 1, p.B[j*p.BCol:], elements[i*p.CRow+j:]
			one.C[0] = p.C[i*p.CRow+j]
			if p.Bias != nil {
				one.Bias = p.Bias[j:][:1]
			}
			multiplyWith(f, one, nil, nil, nil)
		}
	}
	same := func(what string, m int, got, want []T, row, col int) {
		for i := range m {
			for j := range p.N {
				if got, want := got[i*row+j*col], want[i*p.CRow+j]; got != want {
					t.Fatalf("row %d of %d of %d columns, k=%d, strides A %d,%d B %d,%d C %d,%d, alpha %v, beta %v: column %d is %v, %s %v",
						i, m, p.N, p.K, p.ARow, p.ACol, p.BRow, p.BCol, row, col, p.Alpha, p.Beta, j, got, what, want)
				}
			}
		}
	}
	same("the element alone", p.M, rows, elements, p.CRow, 1)
	step := 1
	if p.N*p.K > 1000 {
		step = 13
	}
	for m := 1; m <= p.M; m += step {
		some := p
		some.M, some.C = m, append([]T(nil), p.C...)
		multiplyWith(f, some, nil, nil, nil)
		same("the row alone", m, some.C, rows, p.CRow, 1)
		some.CRow, some.CCol = 1, m
		for i := range m {
			for j := range p.N {
				some.C[i+j*m] = p.C[i*p.CRow+j]
			}
		}
		multiplyWith(f, some, nil, nil, nil)
		same("the row alone", m, some.C, rows, 1, m)
	}
}
