package stated

import (
	"bytes"
	"fmt"
	"go/format"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tenonml/tenon/op"
)

const operationsFile = "../../dimcheck/operations.go"

// TestOperations wants the table of operations to be what their statements say.
func TestOperations(t *testing.T) {
	names := map[Effect]string{Elementwise: "elementwise", Whole: "whole", Reduced: "reduced", Kept: "kept"}
	functions := map[[2]int][]string{} // by effect and number of operands
	for _, o := range op.All() {
		if name, ok := strings.CutPrefix(o.Func(), "ops."); ok && names[Of(o)] != "" && !strings.Contains(name, ".") {
			k := [2]int{int(Of(o)), Operands(o)}
			functions[k] = append(functions[k], name)
		}
	}
	var b strings.Builder
	b.WriteString("package dimcheck\n\n// operations is what the statements of operations say, as go test ./named/internal/stated -update writes it.\nvar operations = []operation{\n")
	keys := slices.SortedFunc(func(yield func([2]int) bool) {
		for k := range functions {
			if !yield(k) {
				return
			}
		}
	}, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	for _, k := range keys {
		slices.Sort(functions[k])
		fmt.Fprintf(&b, "{%s, %d, \"", names[Effect(k[0])], k[1])
		for _, f := range slices.Compact(functions[k]) {
			if line := b.String()[strings.LastIndexByte(b.String(), '\n')+1:]; len(line)+len(f) > 150 {
				b.WriteString("\" +\n\"")
			}
			b.WriteString(" " + f)
		}
		b.WriteString(" \"},\n")
	}
	b.WriteString("}\n")
	want, err := format.Source([]byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(operationsFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(operationsFile); err != nil || !bytes.Equal(got, want) {
		t.Errorf("operations.go is not what the statements say (%v): go test ./named/internal/stated -update", err)
	}
}
