package plugin

import (
	"github.com/golangci/plugin-module-register/register"
	"golang.org/x/tools/go/analysis"

	"github.com/tenonml/tenon/named/dimcheck"
)

func init() { register.Plugin("dimcheck", open) }

// open makes the linter; it has no settings.
func open(any) (register.LinterPlugin, error) { return linter{}, nil }

// linter is what golangci-lint runs.
type linter struct{}

// BuildAnalyzers returns the analyzer.
func (linter) BuildAnalyzers() ([]*analysis.Analyzer, error) {
	return []*analysis.Analyzer{dimcheck.Analyzer}, nil
}

// GetLoadMode says that the analyzer needs types.
func (linter) GetLoadMode() string { return register.LoadModeTypesInfo }
