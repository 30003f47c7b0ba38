package dimcheck

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/packages"
)

// slips are changes of the language model in the test data that are easily made.
var slips = []struct{ name, file, old, new string }{
	{"the head contracts another dimension", "model.go", "named.Dot[Model](m.Norm", "named.Dot[Hidden](m.Norm"},
	{"values are not renamed", "model.go", "named.Rename[Seq, KeySeq](b.Value.Apply(n))", "b.Value.Apply(n)"},
	{"keys are not renamed", "model.go", "named.Rename[Seq, KeySeq](b.Key.Apply(n))", "b.Key.Apply(n)"},
	{"the second layer gets what the first does", "model.go", "b.Down.Apply(h)", "b.Down.Apply(b.Norm2.Apply(x))"},
	{"positions are not renamed", "model.go", "named.Rename[Pos, Seq](named.Index[Pos](m.Positions, key.Range(nil, ids.Seq.Size(), nil)))", "named.Index[Pos](m.Positions, key.Range(nil, ids.Seq.Size(), nil))"},
	{"the table is read along another dimension", "model.go", "named.Take[Vocab](m.Tokens", "named.Take[Model](m.Tokens"},
	{"a layer is left out", "model.go", "named.Add(x, b.Down.Apply(h))", "named.Add(x, h)"},
	{"the loss is over positions", "model.go", "named.CrossEntropy[Vocab]", "named.CrossEntropy[Seq]"},
	{"the norm is over positions", "model.go", "named.LayerNorm[Model](x", "named.LayerNorm[Seq](x"},
	{"a bias has the dimension of the input", "model.go", "Linear[Model]{normal(0.02, model, hidden), zeros(hidden)}", "Linear[Model]{normal(0.02, model, hidden), zeros(model)}"},
	{"attention over the queries", "model.go", "named.Attention[KeySeq, HeadRep]", "named.Attention[Seq, HeadRep]"},
	{"a layer of another type", "model.go", "Out               Linear[Heads]", "Out               Linear[Model]"},
	{"attention contracts the heads", "model.go", "named.Attention[KeySeq, HeadRep]", "named.Attention[KeySeq, Head]"},
}

// Of the slips in a model as one writes it, compiler and analyzer find all but one at most,
// before the program runs, and each where it was made.
func TestSlipsInALanguageModelAreFound(t *testing.T) {
	dir, err := filepath.Abs("testdata/src/lm")
	if err != nil {
		t.Fatal(err)
	}
	overlay := map[string][]byte{}
	patterns := []string{"./named/dimcheck/testdata/src/lm"}
	files := map[string]string{}
	for _, name := range []string{"model.go", "main.go"} {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(raw)
	}
	lines := map[string]int{}
	for _, s := range slips {
		at := strings.Index(files[s.file], s.old)
		if at < 0 {
			t.Fatalf("%s: the model has no %q", s.name, s.old)
		}
		id := strings.ReplaceAll(s.name, " ", "")
		lines[id] = 1 + strings.Count(files[s.file][:at], "\n")
		for name, text := range files {
			if name == s.file {
				text = strings.Replace(text, s.old, s.new, 1)
			}
			overlay[filepath.Join(dir, id, name)] = []byte(text)
		}
		patterns = append(patterns, "./named/dimcheck/testdata/src/lm/"+id)
	}
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax, Dir: "../..", Overlay: overlay}, patterns...)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, p := range pkgs {
		id := p.PkgPath[strings.LastIndexByte(p.PkgPath, '/')+1:]
		if len(p.Errors) > 0 {
			t.Logf("%s: compiler: %v", id, p.Errors[0])
			found++
			continue
		}
		var reports []analysis.Diagnostic
		pass := &analysis.Pass{Analyzer: Analyzer, Fset: p.Fset, Files: p.Syntax, Pkg: p.Types, TypesInfo: p.TypesInfo,
			AllPackageFacts: func() []analysis.PackageFact { return nil }, ExportPackageFact: func(analysis.Fact) {},
			Report: func(d analysis.Diagnostic) { reports = append(reports, d) }}
		if _, err := Analyzer.Run(pass); err != nil {
			t.Fatal(err)
		}
		if id == "lm" {
			for _, d := range reports {
				t.Errorf("the model is right, and there is a report: %s", d.Message)
			}
			continue
		}
		if len(reports) == 0 {
			t.Logf("%s: nothing", id)
			continue
		}
		found++
		first, _, _ := strings.Cut(reports[0].Message, "\n")
		line := p.Fset.Position(reports[0].Pos).Line
		if line-lines[id] > 2 || !strings.Contains(id, "bias") && line < lines[id] {
			t.Errorf("%s: reported in line %d, made in line %d: %s", id, line, lines[id], first)
		}
	}
	if found < len(slips)-1 {
		t.Errorf("%d of %d slips are found", found, len(slips))
	}
}
