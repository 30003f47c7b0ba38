package main

import (
	"testing"

	"github.com/tenonml/tenon/internal/conform/cases"
)

// TestCases runs every case whose operation is known.
func TestCases(t *testing.T) {
	files, err := cases.ReadAll("../../testdata/conformance")
	if err != nil {
		t.Fatal(err)
	}
	var total tally
	for _, f := range files {
		t.Run(f.Group, func(t *testing.T) {
			for _, c := range f.Cases {
				r := cases.Run(c)
				total.add(r.Status)
				if r.Status == cases.Failed {
					t.Errorf("%s %s: %s (%s)", c.ID, c.Op, r.Reason, c.Note)
				}
			}
		})
	}
	if n := total.passed + total.failed + total.skipped; n < 3000 {
		t.Errorf("only %d cases were found", n)
	}
	t.Log(total)
}
