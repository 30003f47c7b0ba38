package plugin

import (
	"testing"

	"github.com/golangci/plugin-module-register/register"

	"github.com/tenonml/tenon/named/dimcheck"
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
	if err != nil || len(list) != 1 || list[0] != dimcheck.Analyzer || p.GetLoadMode() != register.LoadModeTypesInfo {
		t.Errorf("got %v, %v, load mode %q", list, err, p.GetLoadMode())
	}
}
