//go:build unix

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// program builds the program as its users do, once.
var program = sync.OnceValues(func() (string, error) {
	dir, err := trained()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "gosearch")
	out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput()
	if err != nil {
		return "", errors.New(string(out))
	}
	return path, nil
})

// A process is a run of the program.
type process struct {
	status         int // -1: killed
	stdout, stderr string
}

// start runs the program. Each line that it writes, to either stream, is shown to see, which may
// send a signal to the process.
func start(t *testing.T, dir string, see func(line string, p *os.Process), args ...string) process {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(path, args...)
	c.Env = append(os.Environ(), "GOSEARCH_DIR="+dir)
	return watch(t, c, see)
}

func watch(t *testing.T, c *exec.Cmd, see func(line string, p *os.Process)) process {
	t.Helper()
	stdout, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	var streams sync.WaitGroup
	for r, text := range map[io.Reader]*bytes.Buffer{stdout: &out, stderr: &errs} {
		streams.Go(func() {
			for lines := bufio.NewReader(r); ; {
				line, err := lines.ReadString('\n')
				text.WriteString(line)
				if err != nil {
					return
				}
				if see != nil {
					see(line, c.Process)
				}
			}
		})
	}
	streams.Wait()
	err = c.Wait()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		t.Fatal(err)
	}
	return process{c.ProcessState.ExitCode(), out.String(), errs.String()}
}

// at returns a function for start that sends a signal when a line begins in a way.
func at(prefix string, s syscall.Signal) func(string, *os.Process) {
	return func(line string, p *os.Process) {
		if strings.HasPrefix(line, prefix) {
			_ = p.Signal(s) // it may have ended
		}
	}
}

// riddles makes Go source whose names have none of the words of their comments, but another
// one for each, of 200, among words that mean nothing: what has to be learned takes many epochs.
func riddles(t *testing.T, n int) string {
	t.Helper()
	word := func(first, second string, i int) string {
		return string([]byte{first[i%10], "aeiou"[i/10%5], second[i/50%8], "aeiou"[i*3%5], first[i*7%10]})
	}
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("package a\n")
	for i := range n {
		b.WriteString("\n// It")
		name := ""
		for range 4 {
			k := r.IntN(200)
			b.WriteString(" " + word("bdfgklmnpr", "bdglmnst", k) + " " + word("bdfgklmnpr", "bdglmnst", r.IntN(200)))
			name += title(word("stvwzhjcqx", "rvwzkpfh", k))
		}
		fmt.Fprintf(&b, ".\nfunc %s%d() {}\n", name, i)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.go"), b.String())
	return dir
}

// riddle is an index of riddles, and the weights that training leads to.
var riddle struct{ index, weights []byte }

// indexed returns a folder with an index and no model, and the weights that training it
// leads to where nothing comes between.
func indexed(t *testing.T) (dir string, weights []byte) {
	t.Helper()
	dir = t.TempDir()
	if riddle.weights == nil {
		first := t.TempDir()
		if p := start(t, first, nil, "index", "-src", riddles(t, 300)); p.status != 0 {
			t.Fatal(p.stderr)
		}
		riddle.index = read(t, filepath.Join(first, declarationsFile))
		p := start(t, first, nil, training...)
		if p.status != 0 || !strings.Contains(p.stderr, "epoch 8:") {
			t.Fatalf("status %d, %s", p.status, p.stderr)
		}
		riddle.weights = read(t, filepath.Join(first, modelFolder, "weights.safetensors"))
	}
	write(t, filepath.Join(dir, declarationsFile), string(riddle.index))
	return dir, riddle.weights
}

var training = []string{"train", "-epochs", "8", "-ask", "It"}

// Killed without warning at any moment, and again, a run that is started once more ends with
// the weights of one that was never killed, and leaves nothing behind.
func TestKilled(t *testing.T) {
	var dir string
	var want []byte
	inTime(t, func() error {
		dir, want = indexed(t)
		for _, moment := range []string{
			"epoch 1:",   // before there is a checkpoint
			"epoch 5:",   // after one, with work since
			"epoch 7:",   // in a run that was resumed
			"trained on", // before the model is written
			"stored in",  // after
		} {
			switch p := start(t, dir, at(moment, syscall.SIGKILL), training...); {
			case p.status == 0 && strings.Contains("\n"+p.stderr+"\n"+p.stdout, "\n"+moment):
				return errLate
			case p.status != -1:
				return fmt.Errorf("%s: the process ended by itself with status %d: %s%s", moment, p.status, p.stdout, p.stderr)
			}
		}
		return nil
	})
	p := start(t, dir, nil, training...)
	if p.status != 0 {
		t.Fatalf("status %d: %s", p.status, p.stderr)
	}
	if !bytes.Equal(read(t, filepath.Join(dir, modelFolder, "weights.safetensors")), want) {
		t.Error("a run that was killed has other weights")
	}
	only(t, dir, declarationsFile, modelFolder)
}

// A process that is killed while it writes leaves a file that has no name yet. The next
// run removes it.
func TestLeftovers(t *testing.T) {
	dir, want := indexed(t)
	write(t, filepath.Join(dir, "."+checkpointFile+".ABCDEFGHIJKL.tmp"), "half")
	if err := os.Mkdir(filepath.Join(dir, "."+modelFolder+".123.tmp"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, ".notes.tmp"), "somebody else's")
	if p := start(t, dir, nil, training...); p.status != 0 {
		t.Fatalf("status %d: %s", p.status, p.stderr)
	}
	only(t, dir, ".notes.tmp", declarationsFile, modelFolder)
	if !bytes.Equal(read(t, filepath.Join(dir, modelFolder, "weights.safetensors")), want) {
		t.Error("the weights differ")
	}
}

// only fails where a folder holds something else.
func only(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(names, " ") {
		t.Errorf("in the folder are %q, want %q", got, names)
	}
}

// Ctrl-C saves what has been learned, says so in one line, and the next run goes on.
func TestInterruptedProcess(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		var dir string
		var want []byte
		inTime(t, func() error {
			dir, want = indexed(t)
			p := start(t, dir, at("epoch 2:", s), training...)
			if p.status == 0 || strings.Contains(p.stdout, "trained on") {
				return errLate
			}
			if p.status != 130 || p.stdout != "" || !strings.HasSuffix(p.stderr, "gosearch: interrupted\n") {
				return fmt.Errorf("%v: status %d, stdout %q, stderr %q", s, p.status, p.stdout, p.stderr)
			}
			return nil
		})
		only(t, dir, checkpointFile, declarationsFile)
		p := start(t, dir, nil, training...)
		if p.status != 0 || !strings.HasPrefix(p.stdout, "resumed from step ") {
			t.Fatalf("%v: resumed with status %d, %q, %q", s, p.status, p.stdout, p.stderr)
		}
		if !bytes.Equal(read(t, filepath.Join(dir, modelFolder, "weights.safetensors")), want) {
			t.Errorf("%v: a run that was interrupted has other weights", s)
		}
	}
}

// Where no more can be written, there is one line, and what was there stays as it was.
func TestFullDisk(t *testing.T) {
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	dir, _ := indexed(t)
	run := func(blocks string, args ...string) process { // of 512 bytes
		c := exec.Command("sh", append([]string{"-c", `ulimit -f ` + blocks + `; exec "$0" "$@"`, path}, args...)...)
		c.Env = append(os.Environ(), "GOSEARCH_DIR="+dir)
		return watch(t, c, nil)
	}
	before := read(t, filepath.Join(dir, declarationsFile))
	p := run("16", "index", "-src", source(t, 300))
	if p.status != 1 || p.stdout != "" || strings.Count(p.stderr, "\n") != 1 || !strings.Contains(p.stderr, "file too large") {
		t.Errorf("index: status %d, stdout %q, stderr %q", p.status, p.stdout, p.stderr)
	}
	only(t, dir, declarationsFile)
	if !bytes.Equal(read(t, filepath.Join(dir, declarationsFile)), before) {
		t.Error("the index is not what it was")
	}
	p = run("16", training...)
	if p.status != 1 || p.stdout != "" || !strings.Contains(lastLine(p.stderr), "file too large") {
		t.Errorf("train: status %d, stdout %q, stderr %q", p.status, p.stdout, p.stderr)
	}
	only(t, dir, declarationsFile)
}

func lastLine(text string) string {
	text = strings.TrimSuffix(text, "\n")
	return text[strings.LastIndex(text, "\n")+1:]
}

// Whatever is wrong, the program says so in one line and with its status.
func TestFailingProcess(t *testing.T) {
	empty, foreign, damaged := t.TempDir(), t.TempDir(), t.TempDir()
	for _, dir := range []string{foreign, damaged} {
		if err := os.Mkdir(filepath.Join(dir, modelFolder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(foreign, modelFolder, "thesis.tex"), "x")
	for _, name := range []string{"config.json", "vocabulary.json", "index.safetensors", "declarations.jsonl", "weights.safetensors"} {
		b := read(t, filepath.Join(trainedFolder(t), modelFolder, name))
		if name == "weights.safetensors" {
			b = b[:len(b)-1]
		}
		write(t, filepath.Join(damaged, modelFolder, name), string(b))
	}
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, c := range []struct {
		name, dir string
		env       []string
		args      []string
		status    int
		want      string
	}{
		{"empty query", trainedFolder(t), nil, []string{""}, 2, "the question is empty"},
		{"unknown words", trainedFolder(t), nil, []string{"zzyzx"}, 1, "none of the words is known: zzyzx"},
		{"no model", empty, nil, []string{"sort"}, 1, "no model at "},
		{"foreign model", foreign, nil, []string{"sort"}, 1, "no model at "},
		{"damaged model", damaged, nil, []string{"sort"}, 1, "weights.safetensors"},
		{"damaged model to serve", damaged, nil, []string{"serve"}, 1, "weights.safetensors"},
		{"port in use", trainedFolder(t), nil, []string{"serve", "-addr", l.Addr().String()}, 1, "address already in use"},
		{"no GOROOT", empty, []string{"GOROOT=", "PATH="}, []string{"index"}, 1, "no GOROOT: "},
		{"a GOROOT without source", empty, []string{"GOROOT=" + empty}, []string{"index"}, 1, "no source in GOROOT: "},
		{"a folder without Go", empty, nil, []string{"index", "-src", empty}, 1, "no Go source in "},
	} {
		path, err := program()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(path, c.args...)
		cmd.Env = append(append(os.Environ(), "GOSEARCH_DIR="+c.dir), c.env...)
		p := watch(t, cmd, nil)
		if p.status != c.status || p.stdout != "" || strings.Count(p.stderr, "\n") != 1 || !strings.HasPrefix(p.stderr, "gosearch: ") || !strings.Contains(p.stderr, c.want) {
			t.Errorf("%s: status %d, stdout %q, stderr %q; want %d and one line with %q", c.name, p.status, p.stdout, p.stderr, c.status, c.want)
		}
	}
}

// Answers that cannot be written are an error.
func TestFullOutput(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("there is no device that is always full")
	}
	defer full.Close()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(path, "sort a slice")
	c.Env = append(os.Environ(), "GOSEARCH_DIR="+trainedFolder(t))
	var errs bytes.Buffer
	c.Stdout, c.Stderr = full, &errs
	err = c.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 || !strings.Contains(errs.String(), "no space left on device") {
		t.Errorf("%v, %q", err, errs.String())
	}
}
