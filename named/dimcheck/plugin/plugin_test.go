package plugin

import (
	"testing"

	"github.com/golangci/plugin-module-register/register"
	"golang.org/x/tools/go/analysis/analysistest"
)

// golangci-lint finds the linter by its name.
func TestRegistered(t *testing.T) {
	open, err := register.GetPlugin("dimcheck")
	if err != nil {
		t.Fatal(err)
	}
	p, err := open(nil)
	if err != nil {
		t.Fatal(err)
	}
	list, err := p.BuildAnalyzers()
	if err != nil || len(list) != 1 || list[0].Name != "dimcheck" || p.GetLoadMode() != register.LoadModeTypesInfo {
		t.Fatalf("got %v, %v, load mode %q", list, err, p.GetLoadMode())
	}

	// Of fixes that exclude each other only the first is applied.
	fixed := 0
	for _, r := range analysistest.Run(t, "../../..", list[0], "./named/dimcheck/testdata/src/fixes") {
		for _, d := range r.Diagnostics {
			if len(d.SuggestedFixes) > 1 {
				t.Errorf("%d fixes for %s", len(d.SuggestedFixes), d.Message)
			}
			fixed += len(d.SuggestedFixes)
		}
	}
	if fixed == 0 {
		t.Error("nothing can be fixed")
	}
}
