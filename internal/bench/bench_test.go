package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"
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
