package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tenonml/tenon/data/protoio"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/learn/runs"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// The test binary is the program where it is told to be, so that tests run it as a process.
func TestMain(m *testing.M) {
	if os.Getenv("TENON_TEST_PROGRAM") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// process returns a command that runs this program as a process.
func process(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), "TENON_TEST_PROGRAM=1")
	return cmd
}

// call runs a command line within the test.
func call(t *testing.T, stdin string, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(t.Context(), append([]string{"tenon"}, args...), &program{stdin: strings.NewReader(stdin), stdout: &o, stderr: &e})
	return code, o.String(), e.String()
}

const people = `{"id":1,"name":"Ada","jets":[{"pt":3.5,"n":1},{"pt":7.25,"n":2}],"x":null}
{"id":2,"name":"Bo","jets":[],"x":2.5}
{"id":3,"name":"Cy","jets":[{"pt":1,"n":5}]}
`

// put writes a file in a folder of the test and returns its name.
func put(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// samples writes the same records in each format, and tensors and a model.
func samples(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{"jsonl": put(t, dir, "a.jsonl", people)}
	for _, suffix := range []string{"json", "parquet", "arrow", "arrows", "csv", "tsv", "jsonl.gz", "csv.zst"} {
		out := filepath.Join(dir, "b."+suffix)
		if code, _, errs := call(t, "", "convert", files["jsonl"], "-o", out); code != 0 {
			t.Fatalf("%s: %d %s", suffix, code, errs)
		}
		files[suffix] = out
	}
	out := filepath.Join(dir, "b.tfrecord")
	if code, _, errs := call(t, "", "convert", "-p", "id,name", files["jsonl"], "-o", out); code != 0 {
		t.Fatalf("tfrecord: %d %s", code, errs)
	}
	files["tfrecord"] = out
	files["npy"] = filepath.Join(dir, "b.npy")
	if code, _, errs := call(t, "", "convert", "-p", "id", files["jsonl"], "-o", files["npy"]); code != 0 {
		t.Fatalf("npy: %d %s", code, errs)
	}
	files["safetensors"] = filepath.Join(dir, "b.safetensors")
	if err := saved.Write(files["safetensors"], map[string]tensor.Tensor{"a.w": tensor.Of([]float32{1, 2, 3, 4}, 2, 2), "a.b": tensor.Of([]float32{5}), "c": tensor.Of([]int64{6, 7})}, saved.WriteOptions{Rename: saved.Dotted}); err != nil {
		t.Fatal(err)
	}
	files["npz"] = filepath.Join(dir, "b.npz")
	if code, _, errs := call(t, "", "convert", files["safetensors"], "-o", files["npz"]); code != 0 {
		t.Fatalf("npz: %d %s", code, errs)
	}
	files["onnx"] = put(t, dir, "m.onnx", onnxModel())
	files["model"] = filepath.Join(dir, "m.zip")
	keep(t, files["model"], 2)
	files["folder"] = filepath.Join(dir, "m")
	keep(t, files["folder"], 2)
	return files
}

// onnxModel is y = x·w in ONNX.
func onnxModel() string {
	bytes := func(field int, parts ...string) string {
		text := strings.Join(parts, "")
		return string([]byte{byte(field<<3 | 2), byte(len(text))}) + text
	}
	number := func(field, x int) string { return string([]byte{byte(field << 3), byte(x)}) }
	port := func(field int, name string) string {
		return bytes(field, bytes(1, name), bytes(2, bytes(1, number(1, 1), bytes(2, bytes(1, number(1, 2))))))
	}
	weight := bytes(5, number(1, 2), number(2, 1), bytes(8, "w"), bytes(9, "\x00\x00\x80\x3f\x00\x00\x00\x40"))
	graph := bytes(7, bytes(1, bytes(1, "x"), bytes(1, "w"), bytes(2, "y"), bytes(4, "Mul")), bytes(2, "g"), weight, port(11, "x"), port(12, "y"))
	return number(1, 8) + bytes(2, "test") + graph + bytes(8, number(2, 17))
}

// Every format is told by its first bytes, whatever the file's name, from a file and from a pipe.
func TestFormatsAreToldByTheirBytes(t *testing.T) {
	files := samples(t)
	want := map[string]string{"jsonl.gz": "jsonl", "csv.zst": "csv", "folder": "model", "json": "json"}
	for name, path := range files {
		format := name
		if w, ok := want[name]; ok {
			format = w
		}
		bare := path
		if st, err := os.Stat(path); err == nil && !st.IsDir() {
			bare = filepath.Join(t.TempDir(), "x")
			if b, err := os.ReadFile(path); err != nil || os.WriteFile(bare, b, 0o644) != nil {
				t.Fatal(err)
			}
		}
		code, out, errs := call(t, "", "info", "--json", bare)
		var info fileInfo
		if err := json.Unmarshal([]byte(out), &info); code != 0 || err != nil || info.Format != format {
			t.Errorf("%s: %d %s %s, %v", name, code, out, errs, err)
		}
		if bare == path {
			continue
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		code, out, errs = call(t, string(b), "info", "--json", "-")
		if err := json.Unmarshal([]byte(out), &info); code != 0 || err != nil || info.Format != format {
			t.Errorf("%s from a pipe: %d %s %s, %v", name, code, out, errs, err)
		}
	}
}

// What is converted says the same.
func TestConvertedFilesAreTheSame(t *testing.T) {
	files := samples(t)
	for _, name := range []string{"json", "parquet", "arrow", "arrows", "jsonl.gz"} {
		if code, out, errs := call(t, "", "diff", files["jsonl"], files[name]); code != 0 {
			t.Errorf("%s: %d %s%s", name, code, out, errs)
		}
		if code, out, errs := call(t, "", "cat", files[name]); code != 0 || out != strings.ReplaceAll(strings.ReplaceAll(people, `5}]}`, `5}],"x":null}`), `"pt":1,`, `"pt":1.0,`) {
			t.Errorf("%s: %d %s%s", name, code, out, errs)
		}
	}
	if code, out, _ := call(t, "", "diff", files["safetensors"], files["npz"]); code != 0 {
		t.Errorf("tensors: %s", out)
	}
	if code, out, _ := call(t, "", "diff", files["jsonl"], files["csv"]); code != 1 || !strings.Contains(out, "jets: ") {
		t.Errorf("lists and texts: %d %s", code, out)
	}
}

func TestCommands(t *testing.T) {
	files := samples(t)
	files["twice"] = filepath.Join(t.TempDir(), "twice.zip")
	m := saved.NewModel()
	f := function.New(func(x tensor.Tensor) tensor.Tensor { return ops.Add(ops.Exp(x), ops.Exp(x)) })
	if err := errors.Join(m.Add("twice", f, tensor.NewSpec(dtype.Float64, shape.Of(-1))), m.Function("twice").AddWarmUp(tensor.Of([]float64{1, 2})), m.Save(files["twice"])); err != nil {
		t.Fatal(err)
	}
	a := files["jsonl"]
	b := put(t, t.TempDir(), "b.jsonl", strings.Replace(people, "7.25", "7.5", 1))
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"head", "-n", "1", "-p", "id,name", a}, 0, "{\"id\":1,\"name\":\"Ada\"}\n"},
		{[]string{"head", a, "-n", "0", "-p", "id", "-f", "csv"}, 0, "id\n"},
		{[]string{"tail", "-n", "1", "-p", "id", a}, 0, "{\"id\":3}\n"},
		{[]string{"tail", "-n", "2", "-p", "id", files["parquet"]}, 0, "{\"id\":2}\n{\"id\":3}\n"},
		{[]string{"cat", "-w", "@.id > 1 && any(@.jets.pt > 0)", "-p", "name", a}, 0, "{\"name\":\"Cy\"}\n"},
		{[]string{"cat", "-p", "id,x", "-f", "json", a}, 0, "[\n{\"id\":1,\"x\":null},\n{\"id\":2,\"x\":2.5},\n{\"id\":3,\"x\":null}\n]\n"},
		{[]string{"cat", "-p", "id,name", "-f", "md", a}, 0, "| id | name |\n| --- | --- |\n| 1 | Ada |\n| 2 | Bo |\n| 3 | Cy |\n"},
		{[]string{"cat", "-f", "csv", "-p", "id,jets.n", a}, 0, "id,jets\n1,\"[{\"\"n\"\":1},{\"\"n\"\":2}]\"\n2,[]\n3,\"[{\"\"n\"\":5}]\"\n"},
		{[]string{"sample", "-n", "3", "-p", "id", a}, 0, "{\"id\":1}\n{\"id\":2}\n{\"id\":3}\n"},
		{[]string{"select", "--flatten", "jets", "--group", "name", "--agg", "count, sum(jets.pt)", a}, 0, "{\"name\":\"Ada\",\"count\":2,\"pt\":10.75}\n{\"name\":\"Cy\",\"count\":1,\"pt\":1.0}\n"},
		{[]string{"select", "--sort", "-id", "-n", "2", "-p", "id", a}, 0, "{\"id\":3}\n{\"id\":2}\n"},
		{[]string{"select", "--join", b, "--on", "id", "--kind", "semi", "-p", "id", "-w", "@.id < 3", a}, 0, "{\"id\":1}\n{\"id\":2}\n"},
		{[]string{"spec", a}, 0, "{id: int64, name: string, jets: ? * {pt: float64, n: int64}, x: ?float64}\n"},
		{[]string{"diff", a, a}, 0, ""},
		{[]string{"diff", a, b}, 1, "jets: 1 of 3 rows differ, the first is row 0: [[{\"pt\":3.5,\"n\":1},{\"pt\":7.25,\"n\":2}]] and [[{\"pt\":3.5,\"n\":1},{\"pt\":7.5,\"n\":2}]]\n"},
		{[]string{"diff", "--rtol", "0.1", a, b}, 0, ""},
		{[]string{"diff", "-q", a, b}, 1, ""},
		{[]string{"validate", a, files["parquet"], files["model"]}, 0, ""},
		{[]string{"model", "-f", "csv", files["safetensors"]}, 0, "name,type,tensors,elements,bytes\na.b,float32[1],1,1,4\na.w,\"float32[2, 2]\",1,4,16\nc,int64[2],1,2,16\n"},
		{[]string{"model", "--depth", "1", "-f", "csv", files["safetensors"]}, 0, "name,type,tensors,elements,bytes\na,\"\",2,5,20\nc,int64[2],1,2,16\n"},
		{[]string{"graph", "--counts", files["model"]}, 0, "     1 mul\n"},
		{[]string{"graph", "--counts", files["onnx"]}, 0, "     1 mul\n"},
		{[]string{"graph", "--counts", files["twice"]}, 0, "     1 add\n     2 exp\n"},
		{[]string{"graph", "--compiled", "--counts", files["twice"]}, 0, "     1 add\n     1 exp\n"},
		{[]string{"model", "-f", "csv", files["onnx"]}, 0, "name,type,tensors,elements,bytes\nw,float32[2],1,2,8\n"},
		{[]string{"stats", "-p", "id", "-f", "csv", a}, 0, "path,type,of,count,missing,distinct,min,p25,median,p75,max,mean,std\nid,int64,value,3,0,3,1.0,1.5,2.0,2.5,3.0,2.0,0.816497\n"},
		{[]string{"cat", files["npy"]}, 0, "{\"id\":1}\n{\"id\":2}\n{\"id\":3}\n"},
		{[]string{"cat", "-p", "id,name", files["tfrecord"]}, 0, "{\"id\":[1],\"name\":[\"Ada\"]}\n{\"id\":[2],\"name\":[\"Bo\"]}\n{\"id\":[3],\"name\":[\"Cy\"]}\n"},
	} {
		code, out, errs := call(t, "", c.args...)
		if code != c.code || strings.ReplaceAll(out, `"value"`, `"id"`) != c.want {
			t.Errorf("%q: %d\n%s%s\nwant %d\n%s", c.args, code, out, errs, c.code, c.want)
		}
	}
	code, out, _ := call(t, "", "graph", "-f", "netron", files["model"])
	if !strings.HasPrefix(out, "{\n \"signature\": \"netron:") || code != 0 || !json.Valid([]byte(out)) {
		t.Errorf("netron: %d %s", code, out)
	}
	code, out, _ = call(t, "", "graph", "-f", "svg", "--colour", "memory", files["twice"])
	if code != 0 || !strings.Contains(out, `class="node h9"`) || !strings.Contains(out, "of 2 operations that run together") {
		t.Errorf("--colour: %d %s", code, out)
	}
	if code, _, errs := call(t, "", "graph", "-f", "svg", "--colour", "time", files["model"]); code != 1 || !strings.Contains(errs, "without warm-up inputs") {
		t.Errorf("--colour: %d %s", code, errs)
	}
	code, out, _ = call(t, "", "spec", "--go", a)
	if want := "type Record struct {\n\tId   int64  `json:\"id\"`\n\tName string `json:\"name\"`\n\tJets []struct {\n\t\tPt float64 `json:\"pt\"`\n\t\tN  int64   `json:\"n\"`\n\t} `json:\"jets\"`\n\tX *float64 `json:\"x\"`\n}\n"; code != 0 || out != want {
		t.Errorf("--go: %d %s", code, out)
	}
}

// Runs are listed and compared, their events are records, and files for TensorBoard are written.
func TestRuns(t *testing.T) {
	dir := t.TempDir()
	for i, rate := range []float64{0.5, 0.25} {
		w, err := runs.Create(filepath.Join(dir, "a", fmt.Sprint(i)), runs.Info{Name: "../<x>", Seed: 3, Args: []string{"x"}, Settings: map[string]any{"rate": rate, "width": 3}, Started: time.Date(2026, 1, 1, i, 0, 0, 0, time.UTC)})
		if err != nil {
			t.Fatal(err)
		}
		score := rate
		for _, e := range []runs.Event{{Step: 1, Steps: 2, Loss: 2}, {Step: 2, Steps: 2, Loss: math.NaN(), Score: &score, Best: true, Values: map[string]float64{"step": 7}, Elapsed: time.Second}} {
			if err := w.Add(e); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close("finished"); err != nil {
			t.Fatal(err)
		}
	}
	tb := filepath.Join(dir, "tb")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-f", "csv", "-p", "name,started,steps,of,loss,best,seconds,end"}, "name,started,steps,of,loss,best,seconds,end\n../<x>,2026-01-01 00:00:00,2,2,,0.5,1.0,finished\n../<x>,2026-01-01 01:00:00,2,2,,0.25,1.0,finished\n"},
		{[]string{"--compare", "-f", "csv"}, "setting,../<x>,../<x>-2\nsettings.rate,0.5,0.25\n"},
		{[]string{"--events", "-f", "csv", "-w", "@.run == '../<x>'"}, "run,step,epoch,loss,score,step_1,seconds\n../<x>,1,0,2.0,,,0.0\n../<x>,2,0,,0.5,7.0,1.0\n"},
		{[]string{"--tensorboard", tb}, ""},
	} {
		code, out, errs := call(t, "", append(append([]string{"runs"}, c.args...), dir)...)
		if code != 0 || out != c.want && c.args[0] != "--tensorboard" {
			t.Errorf("%q: %d\n%s%s\nwant\n%s", c.args, code, out, errs, c.want)
		}
	}
	if files, err := filepath.Glob(filepath.Join(tb, "<x>*", "events.out.tfevents.*")); err != nil || len(files) != 2 {
		t.Errorf("got %q, %v", files, err)
	}
	for _, args := range [][]string{{filepath.Join(dir, "none")}, {t.TempDir()}} {
		if code, _, errs := call(t, "", append([]string{"runs"}, args...)...); code != 1 || strings.Count(errs, "\n") != 1 {
			t.Errorf("%q: %d %s", args, code, errs)
		}
	}
}

// Each command says what is wrong with each kind of broken input in one line, ends with the status for
// it, and leaves no file behind.
func TestBadInput(t *testing.T) {
	files := samples(t)
	dir := t.TempDir()
	broken := map[string]string{"folder": dir, "missing": filepath.Join(dir, "nothing.jsonl")}
	for name, path := range files {
		if name == "folder" {
			continue
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if name != "csv" && name != "tsv" && name != "csv.zst" { // a shorter table is a table
			broken["cut "+name] = put(t, dir, "cut."+name, string(b[:len(b)*3/4-1]))
		}
	}
	broken["damaged jsonl"] = put(t, dir, "bad.jsonl", "{\"a\":1}\n{\"a\":}\n")
	broken["damaged csv"] = put(t, dir, "bad.csv", "a,b\n1,2\n3\n")
	broken["binary"] = put(t, dir, "x.bin", "\x00\x01\x02\x03")
	broken["HDF5"] = put(t, dir, "x.h5", "\x89HDF\r\n\x1a\n")
	broken["empty"] = put(t, dir, "empty", "")
	if os.Geteuid() != 0 { // who may read everything
		broken["no permission"] = put(t, dir, "secret", people)
		if err := os.Chmod(broken["no permission"], 0); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(t.TempDir(), "out.jsonl")
	for what, path := range broken {
		for _, args := range [][]string{
			{"info", "--count", path}, {"cat", path}, {"head", "-n", "100", path}, {"tail", path}, {"sample", path}, {"stats", path}, {"spec", path}, {"select", "--sort", "a", path},
			{"convert", path, "-o", out}, {"diff", path, path}, {"model", path}, {"graph", path}, {"view", path, "-o", out}, {"validate", path}, {"runs", path}, {"serve", path},
			{"runs", "--events", "-f", "csv", "-o", out, path}, {"hub", "push", path, "127.0.0.1:1/x/y:1"},
		} {
			code, stdout, errs := call(t, "", args...)
			if args[0] == "validate" {
				if code != 1 || strings.Count(stdout, "\n") != 1 && !strings.Contains(what, "damaged") {
					t.Errorf("%s: %q: %d %q %q", what, args, code, stdout, errs)
				}
				continue
			}
			if args[0] == "info" && (what == "cut safetensors" || strings.HasPrefix(what, "cut np")) && code == 0 {
				continue // what it says of itself is whole
			}
			if code != 1 || strings.Count(errs, "\n") != 1 || !strings.HasPrefix(errs, "tenon: ") || len(errs) < 20 || strings.Contains(errs, ".go:") {
				t.Errorf("%s: %q: %d %q", what, args, code, errs)
			}
			if what == "folder" && !slices.Contains([]string{"runs", "serve", "hub"}, args[0]) && !strings.Contains(errs, "is a folder without a model; name the files in it") {
				t.Errorf("a folder: %q: %q", args, errs)
			}
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a file was written by a command that failed")
	}
	for _, args := range [][]string{
		{"head"}, {"head", "a", "b"}, {"head", "-n", "-1", files["jsonl"]}, {"head", "-n", "many", files["jsonl"]}, {"head", "-f", "docx", files["jsonl"]}, {"head", "-i", "md", files["jsonl"]},
		{"head", "--json", "-f", "csv", files["jsonl"]}, {"head", "-f", "npy", files["jsonl"]}, {"cat", "-p", "a,,b", files["jsonl"]}, {"cat", "-p", "a[", files["jsonl"]}, {"convert", files["jsonl"]}, {"convert", files["jsonl"], "-o", "x.docx"},
		{"diff", "a"}, {"diff", "--rtol", "-1", "a", "b"}, {"graph", "-f", "png", files["model"]}, {"graph", "--variant", "7", files["model"]}, {"graph", "--function", "nope", files["model"]}, {"graph", "--colour", "time", files["model"]}, {"graph", "-f", "svg", "--colour", "red", files["model"]},
		{"select", "--agg", "count", files["jsonl"]}, {"select", "--group", "id", "--agg", "mode(x)", files["jsonl"]}, {"select", "--join", "b", files["jsonl"]}, {"select", "--kind", "odd", files["jsonl"]},
		{"spec", "--go", "--json", files["jsonl"]}, {"spec", "--name", "x y", files["jsonl"]}, {"doctor", "x"}, {"model", "--depth", "-2", files["model"]}, {"info"}, {"stats", "--nothing"},
		{"head", "-n", "99999999999999999999", files["jsonl"]}, {"sample", "--seed", "-1", files["jsonl"]}, {"diff", "--rtol", "NaN", files["jsonl"], files["jsonl"]}, {"select", "-n", "-1", files["jsonl"]},
		{"completion", "klingon"}, {"completion"}, {"head", "-n"}, {"nothing"}, {"view", "--listen", "127.0.0.1:99999", files["jsonl"]}, {"spec", "--go", "--name", "", files["jsonl"]},
		{"runs", "--compare", "--events"}, {"view"}, {"view", "--listen", "0.0.0.0:0", files["jsonl"]},
	} {
		code, _, errs := call(t, "", args...)
		if code != 2 || strings.Count(errs, "\n") != 1 {
			t.Errorf("%q: %d %q, want 2 and a line", args, code, errs)
		}
	}
}

// What is asked for in the extreme is done, and what was given is not told without end.
func TestExtremes(t *testing.T) {
	file := put(t, t.TempDir(), "a.jsonl", people)
	most := fmt.Sprint(math.MaxInt64)
	for _, args := range [][]string{{"head", "-n", most, "-p", "id", file}, {"tail", "-n", most, "-p", "id", file}, {"sample", "-n", most, "-p", "id", file}, {"select", "-n", most, "-p", "id", file}, {"cat", "-p", strings.Repeat("id,", 20000) + "id", file}} {
		if code, out, errs := call(t, "", args...); code != 0 || out != "{\"id\":1}\n{\"id\":2}\n{\"id\":3}\n" {
			t.Errorf("%.60q: %d %q %q", args, code, out, errs)
		}
	}
	for _, args := range [][]string{{"cat", "-w", strings.Repeat("(", 100_000), file}, {"cat", file + strings.Repeat("x", 100_000)}, {"convert", file, "-o", filepath.Join(t.TempDir(), "none", "b.csv")}} {
		if code, _, errs := call(t, "", args...); code != 1 || len(errs) > 1100 || strings.Count(errs, "\n") != 1 || strings.Contains(errs, ".tmp:") {
			t.Errorf("%.60q: %d %q", args, code, errs)
		}
	}
}

// As a process: a pipe that is closed, a full disk, an interrupt.
func TestProcess(t *testing.T) {
	dir := t.TempDir()
	long := put(t, dir, "long.jsonl", strings.Repeat(people, 20000))
	files := samples(t)
	run := filepath.Join(dir, "runs", "a")
	r, err := runs.Create(run, runs.Info{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.Add(runs.Event{Step: 1, Steps: 1, Loss: 2}), r.Close("finished")); err != nil {
		t.Fatal(err)
	}
	printing := [][]string{ // commands that print
		{"cat", long}, {"head", long}, {"tail", long}, {"sample", long}, {"info", long}, {"stats", long}, {"spec", long}, {"spec", "--go", long}, {"select", "--sort", "id", long},
		{"select", "--group", "id", "--agg", "count", long}, {"validate", put(t, dir, "bad.jsonl", "{\"a\":}\n")}, {"diff", files["jsonl"], long}, {"model", files["safetensors"]}, {"graph", files["model"]}, {"graph", "-f", "svg", files["model"]},
		{"runs", run}, {"runs", "--events", run}, {"doctor"}, {"--help"}, {"cat", "--help"}, {"completion", "bash"}, {"convert", long, "-f", "csv", "-o", "-"}, {"convert", files["safetensors"], "-f", "npz", "-o", "-"},
	}
	t.Run("closed pipe", func(t *testing.T) {
		for _, args := range printing {
			in, out, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			in.Close() // nobody reads
			cmd := process(t, args...)
			var errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = out, &errs
			err = cmd.Run()
			out.Close()
			if code := cmd.ProcessState.ExitCode(); code != 0 && !(code == 1 && args[0] == "validate") || errs.Len() > 0 {
				t.Errorf("%q: %v %s", args, err, errs.String())
			}
		}
	})
	t.Run("full disk", func(t *testing.T) {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Skip("there is no /dev/full")
		}
		defer full.Close()
		for _, args := range append(printing, []string{"convert", long, "-f", "jsonl", "-o", "/dev/full"}, []string{"view", long, "-o", "/dev/full"}) {
			cmd := process(t, args...)
			var errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = full, &errs
			err := cmd.Run()
			if cmd.ProcessState.ExitCode() != 1 || strings.Count(errs.String(), "\n") != 1 || !strings.Contains(errs.String(), "no space left") {
				t.Errorf("%q: %v %s", args, err, errs.String())
			}
		}
	})
	t.Run("interrupt", func(t *testing.T) {
		out := filepath.Join(dir, "out.parquet")
		for _, args := range [][]string{
			{"convert", "-", "-i", "jsonl", "-o", out}, {"cat", "-i", "jsonl", "-"}, {"tail", "-i", "jsonl", "-"}, {"sample", "-i", "jsonl", "-"}, {"stats", "-i", "jsonl", "-"}, {"info", "--count", "-i", "jsonl", "-"},
			{"select", "--sort", "id", "-i", "jsonl", "-"}, {"select", "--group", "id", "--agg", "count", "-i", "jsonl", "-o", out, "-"}, {"validate", "-i", "jsonl", "-"}, {"diff", "-i", "jsonl", "-", long},
		} {
			cmd := process(t, args...)
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			var errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = io.Discard, &errs
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for range 50 { // more than a pipe holds: it has begun to read
				if _, err := io.WriteString(in, strings.Repeat(people, 100)); err != nil {
					t.Fatal(err)
				}
			}
			if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			err = cmd.Wait()
			if cmd.ProcessState.ExitCode() != 130 || errs.String() != "tenon: interrupted\n" {
				t.Errorf("%q: %v %q", args, err, errs.String())
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "*out.parquet*")); len(left) > 0 {
				t.Errorf("%q: left behind: %q", args, left)
			}
		}
	})
}

// The first records of a large file are there at once: nothing behind them is read.
func TestHeadOfALargeFile(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"x.jsonl": strings.Repeat(people, 100), "x.csv": "a,b\n" + strings.Repeat("1,2\n", 2000), "x.json": "[" + strings.Repeat("{\"a\":1},\n", 1000)} {
		path := put(t, dir, name, text)
		if err := os.Truncate(path, 10<<30); err != nil {
			t.Skipf("no sparse files: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // reading 10 GB takes longer
		var out, errs bytes.Buffer
		code := run(ctx, []string{"tenon", "head", path}, &program{stdout: &out, stderr: &errs})
		cancel()
		if code != 0 || strings.Count(out.String(), "\n") != 10 {
			t.Errorf("%s: %d %s%s", name, code, out.String(), errs.String())
		}
	}
}

var colours = regexp.MustCompile("\x1b\\[[0-9;]*m")

// In a terminal: a table of its width, colours, a pager; and none of it with NO_COLOR and without one.
func TestTerminal(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	dir := t.TempDir()
	a := put(t, dir, "a.jsonl", people)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "s")
	tmux := func(args ...string) string {
		out, err := exec.CommandContext(t.Context(), "tmux", append([]string{"-S", socket}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %q: %v %s", args, err, out)
		}
		return string(out)
	}
	for i, c := range []struct{ env, want string }{
		{"TENON_PAGER=cat", "\x1b[1m"},
		{"TENON_PAGER=cat NO_COLOR=1", "id  name"},
		{"TENON_PAGER='sed s/^/paged:/'", "paged:"},
	} {
		name := fmt.Sprintf("s%d", i)
		line := fmt.Sprintf("env TENON_TEST_PROGRAM=1 %s %s head %s; tmux -S %s wait-for -S %s; cat", c.env, self, a, socket, name)
		tmux("new-session", "-d", "-s", name, "-x", "60", "-y", "20", line)
		tmux("wait-for", name)
		screen := tmux("capture-pane", "-p", "-e", "-t", name)
		if !strings.Contains(screen, c.want) || strings.Contains(c.env, "NO_COLOR") == strings.Contains(screen, "\x1b[") {
			t.Errorf("%s: %q", c.env, screen)
		}
		for line := range strings.Lines(screen) {
			if len([]rune(colours.ReplaceAllString(line, ""))) > 70 {
				t.Errorf("a line is wider than the terminal: %q", line)
			}
		}
	}
	tmux("kill-server")
}

// Records that are no examples are a text each.
func TestRecordsThatAreNoExamples(t *testing.T) {
	var b bytes.Buffer
	w, err := protoio.NewRecordWriter(&b, protoio.RecordOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write([]byte("\xffno example")); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	code, out, errs := call(t, b.String(), "cat", "-")
	if code != 0 || !strings.Contains(out, "no example") {
		t.Errorf("%d %s%s", code, out, errs)
	}
}
