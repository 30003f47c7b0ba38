//go:build linux || darwin

package mesh

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/tenonml/tenon/scale/dist"
	"github.com/tenonml/tenon/scale/dist/mpi"
)

const lawsVariable = "TENON_MESH_LAWS"

// Under a launcher, the test program is a rank.
func TestMain(m *testing.M) {
	if os.Getenv(lawsVariable) == "" {
		os.Exit(m.Run())
	}
	mpi.Main(dist.Options{Timeout: time.Minute}, func(ctx context.Context, c *dist.Comm) error {
		var faults collected
		o, err := lawsOn(ctx, &faults, c, lawCases(1), Axis{"a", c.Size()})
		if c.Rank() == 0 {
			fmt.Println(o)
		}
		return errors.Join(append(faults, err)...)
	})
}

// collected are the faults that a rank finds.
type collected []error

func (c *collected) Errorf(format string, args ...any) { *c = append(*c, fmt.Errorf(format, args...)) }

// The laws hold on the processes of a job too, whose collectives are those of MPI.
func TestLawsOverMPI(t *testing.T) {
	if testing.Short() {
		t.Skip("left out: the processes take as long as the simulation")
	}
	launcher, err := exec.LookPath("mpiexec")
	if err != nil {
		t.Skip("left out: there is no mpiexec in PATH; in a Python environment, pip install mpich==5.0.2 brings it")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), launcher, "-n", "2", self)
	cmd.Env = append(os.Environ(), lawsVariable+"=on", "MPIR_CVAR_ENABLE_HEAVY_YIELD=1")
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "no MPI library with the standard ABI") {
		t.Skipf("left out: %s", out)
	}
	if err != nil || !strings.Contains(string(out), "calls equal the whole") {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("two processes: %s", out)
}
