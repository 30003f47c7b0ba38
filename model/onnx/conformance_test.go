package onnx

import (
	"archive/tar"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/internal/generated"
	"github.com/tenonml/tenon/op"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/tensor"
)

// The cases of ONNX's own suite: those in testdata/cases.tar.gz, and all where TENON_ONNX_CASES
// names the folder onnx/backend/test/data of the Python package, or a copy of it.
const casesVariable = "TENON_ONNX_CASES"

// skipped are the cases that cannot pass, and why. The pattern is that of path.Match; the
// first that matches counts.
var skipped = []struct{ pattern, reason string }{
	{"test_bernoulli*", "draws random numbers, which differ from those of NumPy's generator"},
	{"test_training_dropout", "draws random numbers, which differ from those of NumPy's generator"},
	{"test_training_dropout_mask", "draws random numbers, which differ from those of NumPy's generator"},
	{"test_training_dropout_default*", "draws random numbers, which differ from those of NumPy's generator"},
	{"test_dft_inverse", "the expected zeros are rounding errors of 2e-7, beyond the suite's own tolerance of 1e-7; ours are 3e-15"},
	{"test_dft_inverse_opset19", "the expected zeros are rounding errors of 2e-7, beyond the suite's own tolerance of 1e-7; ours are 3e-15"},
	{"test_scan_sum", "uses version 8 of Scan, with a batch axis, which version 9 replaced"},
	{"test_not_?d", "uses operations of opset 1; opset 6 is the oldest supported one"},
	{"test_cast*_to_FLOAT[48]*", "makes 8-bit or 4-bit floating-point numbers, which Tenon does not have"},
	{"test_cast*_to_*INT[24]*", "makes 4-bit or 2-bit integers, which Tenon does not have"},
	{"test_quantizelinear_*int[24]", "makes 4-bit or 2-bit integers, which Tenon does not have"},
	{"test_quantizelinear_*e[2-5]m[1-3]*", "makes 8-bit or 4-bit floating-point numbers, which Tenon does not have"},
	{"test_image_decoder_*", noDecoder},
	{"test_flexattention*_expanded*", ""}, // in operations that are known
	{"test_flexattention*", noPreview},
	{"test_ada*", noSteps},
	{"test_momentum*", noSteps},
	{"test_nesterov_momentum", noSteps},
	{"test_gradient_of_*", noGrad},
	{"test_ai_onnx_ml_tree_ensemble_*", noTrees},
	{"test_*deform_conv_*", noOffsets},
	{"test_roialign_*", noRegions},
}

func suite(t *testing.T) (fsys fs.FS, whole bool) {
	if dir := os.Getenv(casesVariable); dir != "" {
		return os.DirFS(dir), true
	}
	files, err := keptCases()
	if err != nil {
		t.Fatal(err)
	}
	return files, false
}

// keptCases returns the cases in testdata.
func keptCases() (fs.FS, error) {
	f, err := os.Open("testdata/cases.tar.gz")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	files := fstest.MapFS{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		b, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		files[h.Name] = &fstest.MapFile{Data: b}
	}
}

func reasonFor(name string) string {
	for _, s := range skipped {
		if ok, _ := path.Match(s.pattern, name); ok {
			return s.reason
		}
	}
	return ""
}

func TestConformance(t *testing.T) {
	fsys, whole := suite(t)
	passed := map[string]int{}
	left := map[string]string{}
	for _, group := range []string{"node", "simple", "pytorch-converted", "pytorch-operator"} {
		entries, err := fs.ReadDir(fsys, group)
		if err != nil {
			if whole {
				t.Fatal(err)
			}
			continue
		}
		for _, e := range entries {
			name := group + "/" + e.Name()
			err := tryCase(fsys, name)
			reason := reasonFor(e.Name())
			switch {
			case err == nil && reason == "":
				passed[group]++
			case err == nil:
				t.Errorf("%s passes, but is said to be left out: %s", name, reason)
			case reason == "":
				t.Errorf("%s: %v", name, err)
			default:
				left[name] = reason
			}
		}
	}
	t.Logf("passed: %v, left out: %d", passed, len(left))
	if whole {
		checkDocs(t, passed, left)
	}
}

// tryCase runs the data sets of a case.
func tryCase(fsys fs.FS, name string) (err error) {
	defer tenon.Catch(&err)
	defer func() {
		if r := recover(); r != nil {
			if e, ok := r.(error); ok && tenon.AsError(e) != nil {
				err = e
				return
			}
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	b, err := fs.ReadFile(fsys, name+"/model.onnx")
	if err != nil {
		return err
	}
	m, err := Parse(b)
	if err != nil {
		return err
	}
	for set := 0; ; set++ {
		dir := fmt.Sprintf("%s/test_data_set_%d/", name, set)
		var in, want []any
		for i, p := range m.Inputs {
			x, err := readData(fsys, dir+"input_"+strconv.Itoa(i)+".pb", p)
			if err != nil {
				if set > 0 && i == 0 {
					return nil
				}
				return err
			}
			in = append(in, x)
		}
		if set > 0 && len(m.Inputs) == 0 {
			return nil
		}
		for i, p := range m.Outputs {
			x, err := readData(fsys, dir+"output_"+strconv.Itoa(i)+".pb", p)
			if err != nil {
				if set > 0 {
					return nil
				}
				return err
			}
			want = append(want, x)
		}
		got, err := m.Call(in...)
		if err != nil {
			return err
		}
		for i, p := range m.Outputs {
			if err := compare(got[i], want[i]); err != nil {
				return fmt.Errorf("output %s: %w", p.Name, err)
			}
		}
	}
}

// readData reads a value of the type of a port.
func readData(fsys fs.FS, name string, p Port) (any, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	return readValueOf(b, p.typ)
}

// compare reports how two values differ: at most by 1e-3 of the wanted numbers, and 1e-7.
func compare(got, want any) error {
	if l, ok := want.([]any); ok {
		g, ok := got.([]any)
		if !ok || len(g) != len(l) {
			return fmt.Errorf("got %v, want a sequence of %d", got, len(l))
		}
		for i := range l {
			if err := compare(g[i], l[i]); err != nil {
				return fmt.Errorf("value %d: %w", i, err)
			}
		}
		return nil
	}
	if want == nil {
		if got != nil {
			return fmt.Errorf("got %v, want no value", got)
		}
		return nil
	}
	w := want.(T)
	g, ok := got.(T)
	if !ok {
		return fmt.Errorf("got %v, want a tensor", got)
	}
	if g.DType() != w.DType() || !g.Shape().Equal(w.Shape()) {
		return fmt.Errorf("got %v%v, want %v%v", g.DType(), g.Shape(), w.DType(), w.Shape())
	}
	if w.DType().IsString() {
		if !tensor.Equal(g, w) {
			return fmt.Errorf("got %v, want %v", g, w)
		}
		return nil
	}
	if w.DType().IsComplex() {
		if !tensor.Equal(g, w) {
			return fmt.Errorf("got %v, want %v", g, w)
		}
		return nil
	}
	if w.DType() == dtype.Uint64 || w.DType() == dtype.Int64 {
		if !tensor.Equal(g, w) {
			return fmt.Errorf("got %v, want %v", g, w)
		}
		return nil
	}
	a, b := tensor.Data[float64](ops.Cast(g, dtype.Float64)), tensor.Data[float64](ops.Cast(w, dtype.Float64))
	for i := range a {
		if a[i] == b[i] || math.IsNaN(a[i]) && math.IsNaN(b[i]) {
			continue
		}
		if !(math.Abs(a[i]-b[i]) <= 1e-7+1e-3*math.Abs(b[i])) {
			return fmt.Errorf("element %d is %v, want %v (got %v, want %v)", i, a[i], b[i], short(g), short(w))
		}
	}
	return nil
}

func short(v any) string {
	s := fmt.Sprint(v)
	if len(s) > 150 {
		return s[:150] + "…"
	}
	return s
}

// writtenText lists the operations of Tenon that are written, and those that are not.
func writtenText() string {
	var not []string
	for _, o := range op.All() {
		if !slices.Contains(Written(), o.Name) {
			not = append(not, o.Name)
		}
	}
	return "## Exported operations\n\nThe package writes these operations of Tenon in opset version " + strconv.Itoa(opsetWritten) + ". `go test ./model/onnx` writes the calls of the operation table,\n" +
		"reads them back and compares the results; `internal/onnxtest/runtime.py` runs them with onnxruntime and checks them with `onnx.checker`.\n\n" +
		strings.Join(Written(), ", ") + ".\n\n" +
		"It does not write random numbers, which differ between systems; gradients of layers; matrix decompositions; operations that change\n" +
		"the lengths of rows; most string operations; and operations without a counterpart in ONNX:\n\n" + strings.Join(not, ", ") + ".\n\n"
}

// checkDocs compares docs/onnx.md with what is true.
func checkDocs(t *testing.T, passed map[string]int, left map[string]string) {
	var b strings.Builder
	b.WriteString("# ONNX\n\nPackage `model/onnx` reads and writes ONNX models. See its documentation, and the [recipes](howto/onnx.md). This page is generated by\n`TENON_ONNX_CASES=DIR go test ./model/onnx -run Conformance -update`, where DIR is the folder `onnx/backend/test/data` of the Python package `onnx` 1.22.0.\n\n## Supported operations\n\n")
	b.WriteString("The package reads these operations in opset versions " + strconv.Itoa(oldestOpset) + " to " + strconv.Itoa(NewestOpset) + ", and functions that a model defines:\n\n")
	b.WriteString(strings.Join(Operations(), ", ") + ".\n\n" + unreadText() + writtenText() + "## ONNX's test suite\n\n| group | passed | omitted |\n|---|---|---|\n")
	for _, g := range slices.Sorted(maps.Keys(passed)) {
		n := 0
		for name := range left {
			if strings.HasPrefix(name, g+"/") {
				n++
			}
		}
		fmt.Fprintf(&b, "| %s | %d | %d |\n", g, passed[g], n)
	}
	b.WriteString("\n## Omitted cases\n\n| reason | cases |\n|---|---|\n")
	by := map[string][]string{}
	for name, reason := range left {
		by[reason] = append(by[reason], "`"+path.Base(name)+"`")
	}
	for _, reason := range slices.Sorted(maps.Keys(by)) {
		slices.Sort(by[reason])
		fmt.Fprintf(&b, "| %s | %s |\n", reason, strings.Join(by[reason], " "))
	}
	generated.File(t, "../../docs/onnx.md", b.String(), "go test ./model/onnx -update")
}
