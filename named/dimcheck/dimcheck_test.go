package dimcheck

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"
)

// data are the packages of the test data that compile.
func data(names ...string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = "./named/dimcheck/testdata/src/" + n
	}
	return out
}

// The rules report what the comments of the test data say, and nothing else.
func TestAnalyzer(t *testing.T) {
	analysistest.Run(t, root(t), Analyzer, data("contract", "rename", "schema", "weights", "roles", "declare", "sizes", "flow",
		"generic", "models", "unlike", "lib", "packages", "lift", "seeded", "correct")...)
}

// What can be mended by an edit is.
func TestSuggestedFixes(t *testing.T) {
	analysistest.RunWithSuggestedFixes(t, root(t), Analyzer, data("fixes")...)
}

// root returns the directory of the module.
func root(t *testing.T) string {
	t.Helper()
	return "../.."
}
