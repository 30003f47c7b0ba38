package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tenonml/tenon/internal/arena"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/tensor"
)

// BenchmarkWorkload runs every case of every workload on small inputs.
func BenchmarkWorkload(b *testing.B) {
	for _, name := range names() {
		b.Run(name, func(b *testing.B) {
			r := &runner{workload: name, size: "small", threads: 1, instead: func(c benchCase, f func() any) {
				b.Run(c.name, func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						f()
					}
				})
			}}
			for _, cases := range workloads[name] {
				cases(r)
			}
		})
	}
}

// TestWorkloads runs every workload on tiny inputs and checks the form of its lines.
func TestWorkloads(t *testing.T) {
	for _, name := range names() {
		var out bytes.Buffer
		if err := bench(&out, name, "", "tiny", 0, time.Microsecond); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		seen := map[string]bool{}
		for s := bufio.NewScanner(&out); s.Scan(); {
			var l line
			if err := json.Unmarshal(s.Bytes(), &l); err != nil {
				t.Errorf("%s: %v", s.Text(), err)
				continue
			}
			key := l.Case
			if l.Workload != name || l.Peer != "tenon" || l.Case == "" || l.Runs < 1 || l.Median < l.Min && l.Case != "beyond" || seen[key] {
				t.Errorf("%s", s.Text())
			}
			seen[key] = true
		}
		if len(seen) == 0 {
			t.Errorf("%s has no case", name)
		}
	}
}

// TestDrop drops the result of every case, with the arena watching, and runs the case again:
// nobody else held what was given back.
func TestDrop(t *testing.T) {
	defer arena.SetDebug(arena.SetDebug(true))
	for _, name := range names() {
		dropped := false
		r := &runner{workload: name, size: "tiny", threads: 1, instead: func(c benchCase, f func() any) {
			if c.check == nil {
				return
			}
			result := f()
			switch result.(type) {
			case *tensor.Dense, *ragged.Tensor:
			default:
				return
			}
			want := c.check(result)
			c.drop(result)
			dropped = true
			if got := c.check(f()); !slices.Equal(got, want) {
				t.Errorf("%s, %s: %v, then %v", name, c.name, want, got)
			}
		}}
		for _, cases := range workloads[name] {
			cases(r)
		}
		if known := slices.Contains([]string{"gemm", "softmax_layernorm", "ragged_reduce"}, name); known && !dropped {
			t.Errorf("%s: no result was dropped", name)
		}
	}
	if err := arena.Check(); err != nil {
		t.Error(err)
	}
}

func TestCases(t *testing.T) {
	var out bytes.Buffer
	if err := bench(&out, "eager_overhead", "add4", "tiny", 0, time.Microsecond); err != nil {
		t.Fatal(err)
	}
	// A thousand times [1, 2, 3, 4], weighted 1 to 4.
	if want := `"checksum":[4,30000,30000]`; !strings.Contains(out.String(), want) {
		t.Errorf("got %s, want %s", out.String(), want)
	}
	out.Reset()
	if err := bench(&out, "", "", "full", 0, 0); err != nil || !strings.Contains(out.String(), "spec_nest\n") {
		t.Errorf("the list is %q, %v", out.String(), err)
	}
	for _, bad := range [][2]string{{"nothing", "tiny"}, {"spec_nest", "huge"}} {
		if err := bench(&out, bad[0], "", bad[1], 0, 0); err == nil {
			t.Errorf("%v is accepted", bad)
		}
	}
}
