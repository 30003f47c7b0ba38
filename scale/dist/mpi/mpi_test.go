//go:build linux || darwin

package mpi

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/scale/dist"
	"github.com/tenonml/tenon/tensor"
)

// Under a launcher, the test program is a rank.
func TestMain(m *testing.M) {
	if f := ranks[os.Getenv("TENON_MPI_TEST")]; f != nil {
		Main(dist.Options{Timeout: 2 * time.Second}, f)
		return
	}
	os.Exit(m.Run())
}

var ranks = map[string]func(ctx context.Context, c *dist.Comm) error{
	"collectives": collectives,
	"speed":       speed,
	"disagree": func(ctx context.Context, c *dist.Comm) error {
		_, err := c.AllReduce(ctx, tensor.NewDense(dtype.Float32, tensor.Of(make([]bool, 3+c.Rank())).Shape()), dist.Sum)
		return err
	},
	"error": func(ctx context.Context, c *dist.Comm) error {
		if c.Rank() == 1 {
			return errors.New("the disk is full")
		}
		_, err := c.AllReduce(ctx, tensor.Scalar(1.0), dist.Sum)
		return err
	},
	"die": func(ctx context.Context, c *dist.Comm) error {
		if c.Rank() == 1 {
			os.Exit(3)
		}
		_, err := c.AllReduce(ctx, tensor.Scalar(1.0), dist.Sum)
		return err
	},
	"killed": func(ctx context.Context, c *dist.Comm) error {
		for i := 0; ; i++ {
			if c.Rank() == 1 && i == 1000 {
				return syscall.Kill(os.Getpid(), syscall.SIGKILL)
			}
			if _, err := c.AllReduce(ctx, tensor.Scalar(1.0), dist.Sum); err != nil {
				return err
			}
		}
	},
}

// collectives does each of them, in sizes that do not divide.
func collectives(ctx context.Context, c *dist.Comm) error {
	if c.Size() != 2 {
		return fmt.Errorf("%d ranks, want 2", c.Size())
	}
	r := c.Rank()
	var errs error
	equal := func(what string, got tensor.Tensor, err error, want tensor.Tensor) {
		if err == nil && !tensor.Equal(got, want) {
			err = fmt.Errorf("%s: got %v, want %v", what, got, want)
		}
		errs = errors.Join(errs, err)
	}
	for _, d := range []dtype.DType{dtype.Float16, dtype.BFloat16, dtype.Float32, dtype.Float64, dtype.Int8, dtype.Uint8, dtype.Int16, dtype.Uint16, dtype.Int32, dtype.Uint32, dtype.Int64, dtype.Uint64, dtype.Complex64, dtype.Complex128} {
		x := func(r int) tensor.Tensor { return ops.Cast(tensor.Of([]int64{1, 2, int64(3 * r)}), d) }
		got, err := c.AllReduce(ctx, x(r), dist.Sum)
		equal(fmt.Sprint("sum of ", d), got, err, ops.Add(x(0), x(1)))
		if !d.IsComplex() {
			got, err = c.AllReduce(ctx, x(r), dist.Max)
			equal(fmt.Sprint("greatest of ", d), got, err, x(1))
		}
		got, err = c.ReduceScatter(ctx, x(r), dist.Sum)
		lo, hi := dist.Share(3, 2, r)
		equal(fmt.Sprint("part of ", d), got, err, ops.Slice(ops.Add(x(0), x(1)), []int{lo}, []int{hi - lo}))
		own := func(r int) tensor.Tensor { return ops.Slice(x(1), []int{0}, []int{1 + r}) }
		got, err = c.AllGather(ctx, own(r))
		equal(fmt.Sprint("all of ", d), got, err, ops.Concat([]any{own(0), own(1)}, 0))
		got, err = c.AllToAll(ctx, x(r))
		part := func(s int) tensor.Tensor { return ops.Slice(x(s), []int{lo}, []int{hi - lo}) }
		equal(fmt.Sprint("exchanged ", d), got, err, ops.Concat([]any{part(0), part(1)}, 0))
		got, err = c.Broadcast(ctx, x(r), 1)
		equal(fmt.Sprint("broadcast ", d), got, err, x(1))
		got, err = c.Shift(ctx, x(r), 1)
		equal(fmt.Sprint("shifted ", d), got, err, x(1-r))
	}
	got, err := c.AllReduce(ctx, tensor.Of([]bool{r == 1, true, false}), dist.Any)
	equal("any", got, err, tensor.Of([]bool{true, true, false}))
	half, err := c.Split(ctx, r, 0)
	if err != nil {
		return errors.Join(errs, err)
	}
	got, err = half.AllReduce(ctx, tensor.Scalar(int64(r)), dist.Sum)
	equal("alone", got, err, tensor.Scalar(int64(r)))
	large := make([]float32, 3<<20)
	for i := range large {
		large[i] = float32(i%1000 + r)
	}
	got, err = c.AllReduce(ctx, tensor.Of(large), dist.Sum)
	if err != nil {
		return errors.Join(errs, err)
	}
	for i, v := range tensor.Data[float32](got) {
		if want := float32(2*(i%1000) + 1); v != want {
			return errors.Join(errs, fmt.Errorf("element %d of the sum is %v, want %v", i, v, want))
		}
	}
	return errs
}

// speed prints how long all-reduces take, as internal/mpitest/allreduce.c does, and a call of the library that does nothing.
func speed(ctx context.Context, c *dist.Comm) error {
	l, err := open()
	if err != nil {
		return err
	}
	const calls = 1000
	rank, least := new(int32), time.Hour
	for range 300 {
		start := time.Now()
		for range calls {
			if err := l.call(l.CommRank, commWorld, at(rank)); err != nil {
				return err
			}
		}
		least = min(least, time.Since(start)/calls)
	}
	if c.Rank() == 0 {
		fmt.Printf("Go a call of MPI_Comm_rank takes %v\n", least)
	}
	for _, text := range strings.Split(os.Getenv("TENON_MPI_TEST_BYTES"), ",") {
		size, err := strconv.Atoi(text)
		if err != nil {
			return err
		}
		data := make([]float32, size/4)
		for i := range data {
			data[i] = float32(i % 7)
		}
		x, reps := tensor.Of(data), min(100, max(1, (1<<20)/size))
		best := time.Hour
		for group := range 300 { // short ones, the least of which others of the machine have left alone
			if _, err := c.AllReduce(ctx, tensor.Scalar(0.0), dist.Sum); err != nil {
				return err
			}
			start := time.Now()
			for range reps {
				y, err := c.AllReduce(ctx, x, dist.Sum)
				if err != nil {
					return err
				}
				tensor.Release(y.(*tensor.Dense))
			}
			if d := time.Since(start) / time.Duration(reps); group > 0 {
				best = min(best, d)
			}
		}
		if c.Rank() == 0 {
			fmt.Printf("Go %10d bytes %10.2f us\n", size, float64(best.Nanoseconds())/1e3)
		}
	}
	return nil
}

// launch runs two ranks of this program, or skips the test where MPI is not there.
func launch(t *testing.T, what string, arguments ...string) (string, error) {
	t.Helper()
	launcher, err := exec.LookPath("mpiexec")
	if err != nil {
		t.Skip("left out: there is no mpiexec in PATH; in a Python environment, pip install mpich==5.0.2 brings it")
	}
	if _, err := open(); err != nil {
		t.Skip("left out: ", err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), launcher, append(append(arguments, "-n", "2"), self)...)
	cmd.Env = append(os.Environ(), "TENON_MPI_TEST="+what, "MPIR_CVAR_ENABLE_HEAVY_YIELD=1")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestTwoRanks(t *testing.T) {
	if out, err := launch(t, "collectives"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for _, test := range []struct {
		what      string
		arguments []string
		want      []string
	}{
		{"disagree", nil, []string{"rank 0: dist: ranks disagree in operation 1: rank 0 calls all_reduce(add) of float32[3], rank 1 all_reduce(add) of float32[4]", "rank 1: dist: ranks disagree"}},
		{"error", nil, []string{"rank 0: dist: rank 1: the disk is full", "rank 1: dist: rank 1: the disk is full"}},
		{"die", nil, nil},
		{"die", []string{"-disable-auto-cleanup"}, []string{"rank 1 has died: process ", " is gone; this rank was in operation 1, all_reduce(add) of float64[]"}},
		{"killed", nil, []string{"signal 9"}}, // the launcher kills the others at once
	} {
		start := time.Now()
		out, err := launch(t, test.what, test.arguments...)
		if err == nil {
			t.Errorf("%s: the job ends without an error", test.what)
		}
		for _, want := range test.want {
			if !strings.Contains(out, want) {
				t.Errorf("%s: want %q in\n%s", test.what, want, out)
			}
		}
		if d := time.Since(start); d > 30*time.Second {
			t.Errorf("%s took %v", test.what, d)
		}
	}
}

// Ranks that share a core say so, and those that have one each do not.
func TestCrowded(t *testing.T) {
	const warning = "dist/mpi: 2 ranks share 1 cores"
	for _, c := range []struct {
		bound string
		want  int
	}{{"user:0,0", 1}, {"none", 0}, {"core", 0}} {
		if runtime.NumCPU() < 2 && c.want == 0 {
			continue
		}
		out, err := launch(t, "disagree", "-bind-to", c.bound)
		if n := strings.Count(out, warning); n != c.want {
			t.Errorf("bound to %s: %d warnings, want %d in\n%s (%v)", c.bound, n, c.want, out, err)
		}
	}
}

func TestWorldOfOne(t *testing.T) {
	t.Setenv("TENON_MPI", "off")
	c, err := World(dist.Options{})
	if err != nil || c.Size() != 1 {
		t.Fatal(c, err)
	}
	x, err := c.AllReduce(t.Context(), tensor.Scalar(2.0), dist.Sum)
	if err != nil || tensor.Item[float64](x) != 2 {
		t.Error(x, err)
	}
}

func TestLibrariesThatDoNotFit(t *testing.T) {
	t.Setenv("TENON_MPI_LIBRARY", t.TempDir()+"/libmpi_abi.so.1")
	if _, err := open(); err == nil || !strings.Contains(err.Error(), "no MPI library with the standard ABI") || !strings.Contains(err.Error(), "pip install mpich") {
		t.Errorf("no file: got %v", err)
	}
	if _, err := bind("libmpi.so", func(string) (uintptr, error) { return 0, nil }); err == nil || !strings.Contains(err.Error(), "does not have the standard ABI") {
		t.Errorf("another ABI: got %v", err)
	}
	if _, err := bind("lib.so", func(name string) (uintptr, error) {
		if name == "MPI_Iallreduce_c" {
			return 0, errors.New("undefined")
		}
		return 1, nil
	}); err == nil || !strings.Contains(err.Error(), "lacks 1 functions of MPI 5.0, among them MPI_Iallreduce_c") {
		t.Errorf("a missing symbol: got %v", err)
	}
	if err := version("lib.so", 2, 0); err == nil || !strings.Contains(err.Error(), "version 2.0 of MPI's ABI, want 1") {
		t.Errorf("another version: got %v", err)
	}
}
