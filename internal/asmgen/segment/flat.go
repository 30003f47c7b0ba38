package main

import (
	"strconv"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/tenonml/tenon/internal/asmgen/sink"
	"github.com/tenonml/tenon/internal/asmgen/vec"
)

// nearLimit bounds the arguments of which exponentials can be summed and divided as
// they are: neither the sums of a row nor the quotients leave the normal numbers.
func nearLimit(m vec.Machine) vec.Const {
	if m.Elem == vec.Float64 {
		return 340
	}
	return 40
}

// flats writes the functions that know nothing of rows.
func flats(m vec.Machine) {
	m.Map(vec.Loop{
		Name: "expNear", Vectors: "x", Keep: 12, Ahead: 4096,
		Doc:  "sets dst[i] = e^x[i]; it stops before an x[i] that is NaN or far from 0.",
		Body: func(m vec.Machine, x []vec.V) vec.V { return m.ExpBounded(x[0]) },
		Bad: func(m vec.Machine, x []vec.V) vec.Mask {
			return m.Not(m.Cmp(vec.LessEqual, m.Abs(x[0]), nearLimit(m)))
		},
	})
	m.Map(vec.Loop{
		Name: "exp", Vectors: "x",
		Doc:  "sets dst[i] = e^x[i].",
		Body: func(m vec.Machine, x []vec.V) vec.V { return m.Exp(x[0]) },
	})
	m.Map(vec.Loop{
		Name: "log", Vectors: "x", Unroll: 2,
		Doc:  "sets dst[i] = log x[i].",
		Body: func(m vec.Machine, x []vec.V) vec.V { return m.Log(x[0]) },
	})
}

// splits writes the functions over row splits: integers, of which there are as many
// as rows.
func splits(wide bool) {
	m := vec.Machine{Wide: wide, Elem: vec.Int64}
	m.Map(vec.Loop{
		Name: "add", Vectors: "x,y",
		Doc:  "sets dst[i] = x[i] + y[i].",
		Body: func(m vec.Machine, x []vec.V) vec.V { return m.Add(x[0], x[1]) },
	})
	m.Map(vec.Loop{
		Name: "sub", Vectors: "x,y",
		Doc:  "sets dst[i] = x[i] - y[i].",
		Body: func(m vec.Machine, x []vec.V) vec.V { return m.Sub(x[0], x[1]) },
	})
	m.Map(vec.Loop{
		Name: "shift", Vectors: "x", Scalars: "y",
		Doc:  "sets dst[i] = x[i] + y.",
		Body: func(m vec.Machine, x []vec.V) vec.V { return m.Add(x[0], x[1]) },
	})
	m.Map(vec.Loop{
		Name: "shift", Vectors: "x", Scalars: "y", Stream: true,
		Doc:  "sets dst[i] = x[i] + y past the cache. dst is aligned to 64 bytes.",
		Body: func(m vec.Machine, x []vec.V) vec.V { return m.Add(x[0], x[1]) },
	})
	rising(m)
	longestRow(m)
}

// longestRow writes a function that finds the longest row.
func longestRow(m vec.Machine) {
	TEXT("longest"+m.ISA(), NOSPLIT, "func(out, splits *int64, n int)")
	Pragma("noescape")
	Doc("longest"+m.ISA()+" takes, for each lane, the largest of out and the lengths of the rows of that lane among n rows,",
		"a multiple of the number of lanes, "+strconv.Itoa(m.Lanes())+", and at least that.")
	out, x, n := vec.Arg("out"), vec.Arg("splits"), vec.Arg("n")
	most := m.Load(Mem{Base: out})
	Label("rows")
	VMOVAPS(m.Max(most, m.Sub(m.Load(Mem{Base: x, Disp: 8}), Mem{Base: x})), most)
	ADDQ(U8(uint8(m.Bytes())), x)
	SUBQ(U8(uint8(m.Lanes())), n)
	JNZ(LabelRef("rows"))
	m.Store(most, Mem{Base: out})
	VZEROUPPER()
	RET()
}

// rising writes a function that looks for two neighbours out of order.
func rising(m vec.Machine) {
	const vectors = 4
	TEXT("rising"+m.ISA(), NOSPLIT, "func(x *int64, n int) int")
	Pragma("noescape")
	Doc("rising"+m.ISA()+" returns how many of the n pairs x[i], x[i+1] are known not to fall: n rounded down to a multiple of "+
		strconv.Itoa(vectors*m.Lanes())+",", "or fewer, and then one of the next as many falls.")
	x, n := vec.Arg("x"), vec.Arg("n")
	start := GP64()
	MOVQ(n, start)
	Label("block")
	SUBQ(U8(uint8(vectors*m.Lanes())), n)
	JL(LabelRef("done"))
	var falls vec.Mask
	for v := range vectors {
		k := m.Cmp(vec.Greater, m.Load(Mem{Base: x, Disp: v * m.Bytes()}), Mem{Base: x, Disp: v*m.Bytes() + 8})
		if v == 0 {
			falls = k
		} else {
			falls = m.Either(falls, k)
		}
	}
	ADDQ(U32(uint64(vectors*m.Bytes())), x)
	if m.Wide {
		KORTESTW(falls.R, falls.R)
	} else {
		VPTEST(falls.R, falls.R)
	}
	JZ(LabelRef("block"))
	Label("done")
	ADDQ(U8(uint8(vectors*m.Lanes())), n)
	SUBQ(n, start)
	Store(start, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// rowwise writes a function that combines every element of a row with one number of
// the row's own.
func rowwise(m vec.Machine, name, formula string, combine func(x, c vec.V) vec.V) {
	sink.Variants(func(streaming bool, suffix string) {
		rowwiseTo(m, m.Name(name+suffix), formula, streaming, combine)
	})
}

func rowwiseTo(m vec.Machine, name, formula string, streaming bool, combine func(x, c vec.V) vec.V) {
	size, first := m.Elem.Size(), unasked(m, m.Elem.Size())
	TEXT(name, NOSPLIT, sink.Signature(streaming, "x, c *"+m.Elem.Go()+", splits *int64, rows int"))
	Pragma("noescape")
	Doc(append([]string{
		name + " sets dst[i] = " + formula + " for the elements i of each row r. dst and x are where the first row is.",
		strconv.Itoa(first) + " whole vectors are read and written from the beginning of each row, one row after the other.",
	}, sink.Explain(streaming)...)...)
	out, x, c, splits, rows := sink.New(m, streaming), vec.Arg("x"), vec.Arg("c"), vec.Arg("splits"), vec.Arg("rows")
	start, n := GP64(), GP64()
	MOVQ(Mem{Base: splits}, start)
	Label("row")
	ADDQ(U8(8), splits)
	MOVQ(Mem{Base: splits}, n)
	SUBQ(start, n)
	ADDQ(n, start)
	own := m.Broadcast(Mem{Base: c})
	ADDQ(U8(uint8(size)), c)
	for i := range first {
		m.Store(combine(m.Load(Mem{Base: x, Disp: i * m.Bytes()}), own), Mem{Base: out.At, Disp: i * m.Bytes()})
	}
	CMPQ(n, U8(uint8(first*m.Lanes())))
	JG(LabelRef("more"))
	Label("last")
	LEAQ(Mem{Base: x, Index: n, Scale: uint8(size)}, x)
	LEAQ(Mem{Base: out.At, Index: n, Scale: uint8(size)}, out.At)
	out.Check()
	DECQ(rows)
	JNZ(LabelRef("row"))
	out.End()
	Label("more")
	forward := func(vectors int) {
		ADDQ(U8(uint8(vectors*m.Bytes())), x)
		ADDQ(U8(uint8(vectors*m.Bytes())), out.At)
		SUBQ(U8(uint8(vectors*m.Lanes())), n)
	}
	forward(first)
	Label("vector")
	out.Check()
	m.Store(combine(m.Load(Mem{Base: x}), own), Mem{Base: out.At})
	CMPQ(n, U8(uint8(m.Lanes())))
	JLE(LabelRef("last"))
	forward(1)
	JMP(LabelRef("vector"))
}
