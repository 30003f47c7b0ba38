package plugin

import (
	"github.com/golangci/plugin-module-register/register"
	"golang.org/x/tools/go/analysis"

	"github.com/tenonml/tenon/named/dimcheck"
)

func init() { register.Plugin("dimcheck", open) }

// open returns the linter; it has no settings.
func open(any) (register.LinterPlugin, error) { return linter{}, nil }

// linter is the plugin that golangci-lint runs.
type linter struct{}

// BuildAnalyzers returns the analyzer, with at most one suggested fix for each report:
// golangci-lint run --fix applies all of them, but if there are several, each of them repairs the
// program by itself.
func (linter) BuildAnalyzers() ([]*analysis.Analyzer, error) {
	a := *dimcheck.Analyzer
	a.Run = func(pass *analysis.Pass) (any, error) {
		one := *pass
		one.Report = func(d analysis.Diagnostic) {
			d.SuggestedFixes = d.SuggestedFixes[:min(len(d.SuggestedFixes), 1)]
			pass.Report(d)
		}
		return dimcheck.Analyzer.Run(&one)
	}
	return []*analysis.Analyzer{&a}, nil
}

// GetLoadMode says that the analyzer needs types.
func (linter) GetLoadMode() string { return register.LoadModeTypesInfo }
