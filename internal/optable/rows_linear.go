package optable

import (
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
)

// productTypes are the types whose products the samples do not overflow.
var productTypes = append(append(append([]dtype.DType{}, Floats...), Complex...), dtype.Int32, dtype.Int64, dtype.Uint16, dtype.Int16)

// sums is the readable einsum: it goes through all values of all labels.
func sums(terms []string, out string, operands []Array) Array {
	var letters []rune
	sizes := map[rune]int{}
	for i, t := range terms {
		for k, r := range t {
			if _, ok := sizes[r]; !ok {
				letters = append(letters, r)
			}
			sizes[r] = operands[i].Shape[k]
		}
	}
	dims := make([]int, len(letters))
	for i, r := range letters {
		dims[i] = sizes[r]
	}
	shape := []int{}
	for _, r := range out {
		shape = append(shape, sizes[r])
	}
	res := Array{Shape: shape, X: make([]complex128, Size(shape))}
	at := map[rune]int{}
	index := func(t string, shape []int) int {
		o := 0
		for k, r := range t {
			o = o*shape[k] + at[r]
		}
		return o
	}
	Indices(dims, func(_ int, p []int) {
		for i, r := range letters {
			at[r] = p[i]
		}
		v := complex128(1)
		for i, t := range terms {
			v *= operands[i].X[index(t, operands[i].Shape)]
		}
		res.X[index(out, shape)] += v
	})
	return res
}

// swap exchanges the last two axes.
func swap(a Array) Array {
	n := len(a.Shape)
	s := append([]int{}, a.Shape...)
	s[n-1], s[n-2] = s[n-2], s[n-1]
	out := Array{Shape: s, X: make([]complex128, len(a.X))}
	Indices(a.Shape, func(i int, at []int) {
		p := append([]int{}, at...)
		p[n-1], p[n-2] = p[n-2], p[n-1]
		out.X[Offset(s, p)] = a.X[i]
	})
	return out
}

// stretch broadcasts all but the last own axes of a to batch.
func stretch(a Array, batch []int, own int) Array {
	s := append(append([]int{}, batch...), a.Shape[len(a.Shape)-own:]...)
	out := Array{Shape: s, X: make([]complex128, Size(s))}
	Indices(s, func(i int, at []int) {
		o := 0
		for k := range a.Shape {
			p := at[len(s)-len(a.Shape)+k]
			if k < len(a.Shape)-own && a.Shape[k] == 1 {
				p = 0
			}
			o = o*a.Shape[k] + p
		}
		out.X[i] = a.X[o]
	})
	return out
}

const batchLetters = "uvwxyz"

// batchedSums is an einsum of two operands whose other axes broadcast.
func batchedSums(x, y Array, xt, yt, out string) Array {
	batch := BroadcastDims(x.Shape[:len(x.Shape)-len(xt)], y.Shape[:len(y.Shape)-len(yt)])
	b := batchLetters[:len(batch)]
	return sums([]string{b + xt, b + yt}, b+out, []Array{stretch(x, batch, len(xt)), stretch(y, batch, len(yt))})
}

func init() {
	Add(matMulRow(), matVecRow(), dotRow(), outerRow(), einsumRow())
}

func matMulRow() Row {
	r := Row{Op: "matmul", Smooth: true, Tol: 64, Ref: func(args []any) []Array {
		a, b := args[0].(Array), args[1].(Array)
		if args[2].(bool) {
			a = swap(a)
		}
		if args[3].(bool) {
			b = swap(b)
		}
		return []Array{batchedSums(a, b, "ij", "jk", "ik")}
	}}
	type pair struct{ a, b []int }
	pairs := []pair{
		{[]int{2, 3}, []int{3, 4}}, {[]int{1, 3}, []int{3, 1}}, {[]int{2, 0}, []int{0, 3}}, {[]int{0, 2}, []int{2, 3}},
		{[]int{5, 2, 3}, []int{3, 4}}, {[]int{2, 3}, []int{5, 3, 4}}, {[]int{5, 2, 3}, []int{5, 3, 4}}, {[]int{2, 1, 2, 3}, []int{3, 3, 2}}, {[]int{4, 1, 3}, []int{3, 2}},
	}
	for _, d := range productTypes {
		for i, p := range pairs {
			for flags := range 4 {
				ta, tb := flags&1 == 1, flags&2 == 2
				if i > 1 && i < 6 && flags != 0 && flags != 3 {
					continue
				}
				a, b := p.a, p.b
				if ta {
					a = swapped(a)
				}
				if tb {
					b = swapped(b)
				}
				r.Calls = append(r.Calls, Args(UniformSeed(d, a, lowest(d), 2, 1), UniformSeed(d, b, lowest(d), 2, 2), ta, tb))
			}
		}
	}
	r.Calls = append(r.Calls, NoGrad(Uniform(dtype.Float32, []int{70, 90}, -1, 1), Uniform(dtype.Float32, []int{90, 110}, -1, 1), false, false))
	return r
}

func lowest(d dtype.DType) float64 {
	if d.IsUnsigned() {
		return 0
	}
	return -2
}

func swapped(s []int) []int {
	out := append([]int{}, s...)
	n := len(s)
	out[n-1], out[n-2] = out[n-2], out[n-1]
	return out
}

func matVecRow() Row {
	r := Row{Op: "matvec", Smooth: true, Tol: 64, Ref: func(args []any) []Array {
		return []Array{batchedSums(args[0].(Array), args[1].(Array), "ij", "j", "i")}
	}}
	for _, d := range productTypes {
		for _, p := range [][2][]int{{{2, 3}, {3}}, {{4, 2, 3}, {3}}, {{2, 3}, {4, 3}}, {{4, 2, 3}, {4, 3}}, {{2, 0}, {0}}} {
			r.Calls = append(r.Calls, Args(UniformSeed(d, p[0], lowest(d), 2, 1), UniformSeed(d, p[1], lowest(d), 2, 2)))
		}
	}
	return r
}

func dotRow() Row {
	r := Row{Op: "dot", Smooth: true, Tol: 64, Ref: func(args []any) []Array {
		return []Array{batchedSums(args[0].(Array), args[1].(Array), "i", "i", "")}
	}}
	for _, d := range productTypes {
		for _, p := range [][2][]int{{{3}, {3}}, {{2, 3}, {3}}, {{2, 1, 3}, {4, 3}}, {{0}, {0}}, {{3}, {2, 3}}} {
			r.Calls = append(r.Calls, Args(UniformSeed(d, p[0], lowest(d), 2, 1), UniformSeed(d, p[1], lowest(d), 2, 2)))
		}
	}
	return r
}

func outerRow() Row {
	r := Row{Op: "outer", Smooth: true, Ref: func(args []any) []Array {
		x, y := args[0].(Array), args[1].(Array)
		xt, yt := "abcd"[:len(x.Shape)], "efgh"[:len(y.Shape)]
		return []Array{sums([]string{xt, yt}, xt+yt, []Array{x, y})}
	}}
	for _, d := range productTypes {
		for _, p := range [][2][]int{{{3}, {4}}, {{2, 3}, {2}}, {{}, {3}}, {{3}, {}}, {{0}, {3}}} {
			r.Calls = append(r.Calls, Args(UniformSeed(d, p[0], lowest(d), 2, 1), UniformSeed(d, p[1], lowest(d), 2, 2)))
		}
	}
	return r
}

func einsumRow() Row {
	r := Row{Op: "einsum", Smooth: true, Tol: 128, Ref: func(args []any) []Array {
		operands := args[0].([]Array)
		eq := strings.ReplaceAll(args[1].(string), " ", "")
		in, out, arrow := strings.Cut(eq, "->")
		terms := strings.Split(in, ",")
		if strings.Contains(eq, "...") {
			shapes := make([][]int, len(terms))
			for i, t := range terms {
				if strings.Contains(t, "...") {
					k := strings.Index(t, "...")
					n := len(operands[i].Shape) - (len(t) - 3)
					shapes[i] = operands[i].Shape[k : k+n]
				}
			}
			dims := BroadcastDims(shapes...)
			for i, t := range terms {
				k := strings.Index(t, "...")
				if k < 0 {
					continue
				}
				own := len(t) - 3 - k
				if k > 0 { // the samples have leading letters only without broadcasting
					terms[i] = t[:k] + batchLetters[len(dims)-len(shapes[i]):len(dims)] + t[k+3:]
					continue
				}
				operands[i] = stretch(operands[i], dims, own)
				terms[i] = batchLetters[:len(dims)] + t[3:]
			}
			out = strings.ReplaceAll(out, "...", batchLetters[:len(dims)])
			if !arrow {
				out = batchLetters[:len(dims)]
			}
		}
		if !arrow {
			for c := 'a'; c <= 'n'; c++ {
				if strings.Count(strings.Join(terms, ""), string(c)) == 1 {
					out += string(c)
				}
			}
		}
		return []Array{sums(terms, out, operands)}
	}}
	type sample struct {
		equation string
		shapes   [][]int
	}
	samples := []sample{
		{"ij,jk->ik", [][]int{{2, 3}, {3, 4}}},
		{"ij,jk", [][]int{{2, 3}, {3, 4}}},
		{"ji,jk->ik", [][]int{{3, 2}, {3, 4}}},
		{"ij, jk -> ki", [][]int{{2, 3}, {3, 4}}},
		{"bij,bjk->bik", [][]int{{5, 2, 3}, {5, 3, 4}}},
		{"bhqd,bhkd->bhqk", [][]int{{2, 2, 3, 4}, {2, 2, 5, 4}}},
		{"bqhd,bkhd->bhqk", [][]int{{2, 3, 2, 4}, {2, 5, 2, 4}}},
		{"i,i->", [][]int{{4}, {4}}},
		{"i,j->ij", [][]int{{2}, {3}}},
		{"i,j->ji", [][]int{{2}, {3}}},
		{"ij->ji", [][]int{{2, 3}}},
		{"ij->", [][]int{{2, 3}}},
		{"ij->j", [][]int{{2, 3}}},
		{"ii->i", [][]int{{3, 3}}},
		{"ii", [][]int{{3, 3}}},
		{"iij->ij", [][]int{{3, 3, 2}}},
		{"iji,jk->ik", [][]int{{3, 2, 3}, {2, 4}}},
		{"ij,kl->il", [][]int{{2, 3}, {2, 4}}},
		{"...i,...i", [][]int{{2, 3}, {2, 3}}},
		{"...ij,...jk->...ik", [][]int{{5, 2, 3}, {3, 4}}},
		{"...ij,...jk->...ik", [][]int{{5, 1, 2, 3}, {4, 3, 2}}},
		{"i...->...i", [][]int{{2, 3, 4}}},
		{"...ij,jk->...ik", [][]int{{5, 2, 3}, {3, 4}}},
		{"...ij,jk,...k->...i", [][]int{{5, 1, 2, 3}, {3, 4}, {3, 4}}},
		{"ab,bc,cd->ad", [][]int{{2, 3}, {3, 4}, {4, 5}}},
		{"ab,ac,ad->bcd", [][]int{{2, 3}, {2, 4}, {2, 2}}},
		{"a,b,c,d->abcd", [][]int{{2}, {3}, {2}, {2}}},
		{"ab,bc,cd,de,ef,fg,gh->ah", [][]int{{2, 2}, {2, 3}, {3, 2}, {2, 2}, {2, 3}, {3, 2}, {2, 2}}},
		{"ij,j->i", [][]int{{0, 3}, {3}}},
		{"ij,j->i", [][]int{{2, 0}, {0}}},
		{"abc,cd,abe->de", [][]int{{2, 3, 4}, {4, 2}, {2, 3, 3}}},
	}
	for _, d := range []dtype.DType{dtype.Float64, dtype.Float32, dtype.BFloat16, dtype.Complex128, dtype.Int32} {
		for _, s := range samples {
			list := make([]tenon.Value, len(s.shapes))
			for i, dims := range s.shapes {
				list[i] = UniformSeed(d, dims, -1.5, 1.5, uint64(i))
			}
			r.Calls = append(r.Calls, Args(list, s.equation))
		}
	}
	return r
}
