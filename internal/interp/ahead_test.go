package interp

import (
	"testing"
	"unsafe"

	"github.com/tenonml/tenon/internal/kernel/stream"
)

// TestAhead holds what a block asks for to what the next one reads: all of the operands
// that move, and nothing behind their ends.
func TestAhead(t *testing.T) {
	const n, rows = stream.Threshold / 4, 1000
	var place [1]byte // nothing is read
	base := unsafe.Pointer(&place[0])
	full := form{base: base, size: 4, n: n}
	g := &group{
		inputs: []input{{role: elements}, {role: elements}, {role: ofRows}, {role: table}, {role: elements}, {role: splits}},
		loops:  make([]blockNode, 3),
		size:   4,
	}
	r := &run{n: n, splits: make([]int64, rows+1), block: rowBlockBytes / 4, forms: []form{
		full, {base: base, size: 4, n: 1, scalar: true}, {base: base, size: 8, n: rows},
		full, {base: base, size: 4, n: 64, period: 64}, {},
	}}
	r.isFar(g)
	if !r.far || r.block != farRowBlockBytes/4 {
		t.Fatalf("far: %t, blocks of %d", r.far, r.block)
	}
	w := &scratch{}
	values, splits := uintptr(base), uintptr(unsafe.Pointer(&r.splits[0]))
	tests := []struct {
		name string
		p    part
		want []coming
	}{
		{"inside", part{value: 4096, values: 4096, row: 100, rows: 100},
			[]coming{{values + 4*8192, 4096}, {values + 8*200, 256}, {splits + 8*200, 256}}},
		{"cut off", part{value: n - 4096 - 1024, values: 4096, row: 890, rows: 100},
			[]coming{{values + 4*(n-1024), 1024}, {values + 8*990, 64}, {splits + 8*990, 64}}},
		{"last", part{value: n - 4096, values: 4096, row: 900, rows: 100}, []coming{{splits + 8*1000, 64}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r.expect(g, w, &test.p)
			if len(w.coming) != len(test.want) {
				t.Fatalf("got %v, want %v", w.coming, test.want)
			}
			for i, c := range w.coming {
				if c != test.want[i] {
					t.Errorf("operand %d: got %v, want %v", i, c, test.want[i])
				}
			}
		})
	}
	before := w.coming[0].at
	if w.fetch(); w.coming[0].at != before+64 {
		t.Errorf("the next piece is at %d, want %d", w.coming[0].at, before+64)
	}
	r.forms[0].n, r.splits = n/2, nil
	if r.isFar(g); r.far {
		t.Error("small operands are far")
	}
}
