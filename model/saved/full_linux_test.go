package saved_test

import (
	"bufio"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/state"
	"github.com/tenonml/tenon/tensor"
)

// weighty is a model with n weights of a value.
func weighty(t testing.TB, n int, value float32) *saved.Model {
	t.Helper()
	w := tenon.Must(state.New(slices.Repeat([]float32{value}, n)))
	m := saved.NewModel()
	f := function.New(func(x tensor.Tensor) tensor.Tensor { return ops.Add(x, ops.Max(w)) }, function.Options{Name: "f"})
	if err := errors.Join(m.Name(map[string]any{"w": w}), m.Add("f", f, tensor.Scalar(float32(0)))); err != nil {
		t.Fatal(err)
	}
	return m
}

// holds returns the value of the weights of the model at a path.
func holds(t testing.TB, path string) float32 {
	t.Helper()
	m, err := saved.OpenModel(path)
	if err != nil {
		t.Fatalf("what was there is no model any more: %v", err)
	}
	out, err := m.Function("f").Call(float32(0))
	if err != nil {
		t.Fatal(err)
	}
	return tensor.Item[float32](out[0].(tensor.Tensor))
}

// TestDiskThatFillsUp bounds the size of files, as a full disk does, at bytes of each part of
// what is saved: the error says so, what was there stays, and nothing is left beside it. It is
// a process of its own, since package testing keeps a file that the bound holds for, too.
func TestDiskThatFillsUp(t *testing.T) {
	if os.Getenv("SAVED_TEST_DISK") == "" {
		p := exec.Command(os.Args[0], "-test.run", "^TestDiskThatFillsUp$")
		p.Env = append(os.Environ(), "SAVED_TEST_DISK=full")
		if out, err := p.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	const n = 2000
	first, second := weighty(t, n, 1), weighty(t, n, 2)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Skip(err)
	}
	limited := func(most uint64, save func() error) error {
		l := before
		l.Cur = most
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &l); err != nil {
			t.Skip(err)
		}
		err := save()
		if e := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); e != nil {
			t.Fatal(e)
		}
		return err
	}
	size := func(path string) (most uint64) {
		err := filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err == nil && info.Mode().IsRegular() {
				most = max(most, uint64(info.Size()))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return most
	}
	for _, name := range []string{"m.zip", "m", "m.safetensors"} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		save := func(m *saved.Model) error { return m.Save(path) }
		get := func() float32 { return holds(t, path) }
		if name == "m.safetensors" {
			save = func(m *saved.Model) error { return saved.Write(path, m.Parameters()) }
			get = func() float32 {
				all := must(saved.Read(path, map[string]any{"w": tensor.NewSpec(first.Parameters()["w"].DType(), first.Parameters()["w"].Shape())}))
				return tensor.Data[float32](all["w"].(tensor.Tensor))[n-1]
			}
		}
		for _, there := range []bool{false, true} {
			var want string
			if there {
				if err := save(first); err != nil {
					t.Fatal(err)
				}
				want = everything(t, dir)
			}
			for _, most := range []uint64{0, 1, 7, 8, 100, 1000, 4 * n, 4*n + 50} {
				err := limited(most, func() error { return save(second) })
				var e *tenon.Error
				if !errors.As(err, &e) || !errors.Is(err, syscall.EFBIG) || !strings.Contains(err.Error(), path) {
					t.Errorf("%s, %d bytes: got %v", name, most, err)
				}
				if got := everything(t, dir); got != want {
					t.Errorf("%s, %d bytes: there is\n%swant\n%s", name, most, got, want)
				}
				if there && get() != 1 {
					t.Errorf("%s, %d bytes: the model has changed", name, most)
				}
			}
			if err := save(second); err != nil || get() != 2 {
				t.Errorf("%s: saved when there is room: %v", name, err)
			}
			if most := size(path); there {
				if err := limited(most-1, func() error { return save(first) }); err == nil || get() != 2 {
					t.Errorf("%s: one byte too few: %v", name, err)
				}
				if err := limited(most, func() error { return save(first) }); err != nil || get() != 1 {
					t.Errorf("%s: no byte too few: %v", name, err)
				}
			}
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// killed is how many weights the models have that [TestKilled] saves.
const killed = 300_000

// TestMain is the program that TestKilled starts: it saves one model after the other until it
// is killed.
func TestMain(m *testing.M) {
	path := os.Getenv("SAVED_TEST_SAVE")
	if path == "" {
		os.Exit(m.Run())
	}
	t := &testing.B{}
	models := []*saved.Model{weighty(t, killed, 1), weighty(t, killed, 2)}
	for i := 0; ; i++ {
		if err := models[i%2].Save(path); err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		os.Stdout.WriteString("saved\n")
	}
}

// TestKilled kills a program that saves models, once it has written so much of one: there is
// the model before it or the one that it saved, whole. What is left beside it goes when it is
// saved again.
func TestKilled(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	written := func(dir string) (n int64) {
		filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err == nil && strings.Contains(name, ".tmp") {
				if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
					n += info.Size()
				}
			}
			return nil
		})
		return n
	}
	for _, name := range []string{"m.zip", "m"} {
		for _, bytes := range []int64{1, 1 << 10, 256 << 10, 512 << 10, 4 * killed} {
			dir := t.TempDir()
			path := filepath.Join(dir, name)
			p := exec.Command(self)
			p.Env = append(os.Environ(), "SAVED_TEST_SAVE="+path)
			p.Stderr = os.Stderr
			out, err := p.StdoutPipe()
			if err == nil {
				err = p.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewReader(out)
			for range 2 {
				if _, err := lines.ReadString('\n'); err != nil {
					t.Fatal(err)
				}
			}
			for written(dir) < bytes {
			}
			if err := p.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			p.Wait()
			if got := holds(t, path); got != 1 && got != 2 {
				t.Errorf("%s, %d bytes: the weights are %v", name, bytes, got)
			}
			if err := weighty(t, 10, 3).Save(path); err != nil || holds(t, path) != 3 {
				t.Errorf("%s, %d bytes: saved again: %v", name, bytes, err)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
				t.Errorf("%s, %d bytes: saving again leaves %v, %v", name, bytes, left, err)
			}
		}
	}
}

// TestKilledAtEachByte puts what a program that was killed at any byte of a save has written
// beside a model: the model is what it was, no part of another is one, and saving again leaves
// nothing else.
func TestKilledAtEachByte(t *testing.T) {
	first, second := weighty(t, 3, 1), weighty(t, 3, 2)
	var whole bytes.Buffer
	if err := second.Encode(&whole); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path, temp := filepath.Join(dir, "m.zip"), filepath.Join(dir, ".m.zip.ABCDEFGHIJKL.tmp")
	if err := first.Save(path); err != nil {
		t.Fatal(err)
	}
	before := everything(t, dir)
	for n := range whole.Len() {
		if m, err := saved.DecodeModel(bytes.NewReader(whole.Bytes()[:n]), int64(n)); err == nil {
			t.Fatalf("the first %d bytes are a model: %v", n, m)
		}
		if err := second.Encode(&bounded{left: n}); !errors.Is(err, errFull) {
			t.Fatalf("a writer that fails behind %d bytes: %v", n, err)
		}
		if n%97 != 0 { // saving gets to the disk
			continue
		}
		if err := os.WriteFile(temp, whole.Bytes()[:n], 0o666); err != nil {
			t.Fatal(err)
		}
		if got := holds(t, path); got != 1 {
			t.Fatalf("%d bytes beside the model: the weights are %v", n, got)
		}
		if err := first.Save(path); err != nil {
			t.Fatal(err)
		}
		if got := everything(t, dir); got != before {
			t.Fatalf("saved beside %d bytes: there is\n%swant\n%s", n, got, before)
		}
	}
}

// errFull is the error of a writer without room.
var errFull = errors.New("no room")

// bounded is a writer with room for some bytes.
type bounded struct{ left int }

// Write fails where there is no room.
func (f *bounded) Write(b []byte) (int, error) {
	n := min(len(b), f.left)
	if f.left -= n; n < len(b) {
		return n, errFull
	}
	return n, nil
}
