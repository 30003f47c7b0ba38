package mesh_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/scale/dist"
	"github.com/tenonml/tenon/scale/mesh"
	"github.com/tenonml/tenon/tensor"
)

// plain is a machine whose figures are easy to reckon with: a byte takes a nanosecond everywhere.
var plain = mesh.Machine{
	FLOPS: 1e12, Bandwidth: 1e9, Ranks: 4,
	Within: mesh.Link{Latency: time.Microsecond, Bandwidth: 1e9}, Between: mesh.Link{Latency: 10 * time.Microsecond, Bandwidth: 1e9},
}

func explain[X, Y any](t *testing.T, f func(X) Y, x X, rules []mesh.Rule, axes ...mesh.Axis) mesh.Explanation {
	t.Helper()
	m, err := mesh.Abstract(0, axes...)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Plan(rules...)
	if err != nil {
		t.Fatal(err)
	}
	e, err := mesh.Function(m, f).Explain(p, x)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// What is predicted equals what is reckoned by hand from the formulas.
func TestCost(t *testing.T) {
	const ns = time.Nanosecond
	type in struct{ X, Y *named.Tensor }
	// A gradient: each of n ranks contracts 8/n rows, and the sums of 10×20 float64, 1,600 bytes, are closed.
	f := func(a in) *named.Tensor { return named.Contract[Batch](a.X, a.Y) }
	x := in{named.Ones(dtype.Float64, Batch{}.Of(8), Embed{}.Of(10)), named.Ones(dtype.Float64, Batch{}.Of(8), Hidden{}.Of(20))}
	rules := []mesh.Rule{mesh.On[Batch]("data")}
	for _, c := range []struct {
		ranks       int
		compute     time.Duration
		communicate time.Duration
	}{
		{1, (8*30*8 + 1600) * ns, 0},
		{2, (4*30*8 + 1600) * ns, 2*1000*ns + 2*800*ns + 3*800*ns}, // Rabenseifner's method
		{4, (2*30*8 + 1600) * ns, 2*2000*ns + 2*1200*ns + 3*1200*ns},
		{8, (1*30*8 + 1600) * ns, 2*(2000+1200)*ns + 3*1200*ns + (10000+4*400+3*400)*time.Nanosecond}, // two hosts: 400 bytes of each rank, by four ranks that share the link
	} {
		e := explain(t, f, x, rules, mesh.Axis{Name: "data", Size: c.ranks})
		got, err := e.Cost(plain)
		if err != nil {
			t.Fatal(err)
		}
		if got.Compute != c.compute || got.Communicate != c.communicate || got.Total() != c.compute+c.communicate {
			t.Errorf("%d ranks: got %v, want %v and %v", c.ranks, got, c.compute, c.communicate)
		}
		rows := float64(8 / c.ranks)
		if got.FLOPs != 2*rows*200 || got.Bytes != rows*30*8+1600 || got.Unknown != 0 || !got.Fits {
			t.Errorf("%d ranks: %+v", c.ranks, got)
		}
		if want := rows*30*8 + 1600; got.Memory < want || got.Memory > want+1600 {
			t.Errorf("%d ranks: memory of %v, want %v and at most another result", c.ranks, got.Memory, want)
		}
	}
	// Arithmetic counts where it takes longer than bytes; each operation takes a step.
	slow := plain
	slow.FLOPS, slow.Step, slow.Memory = 1e6, time.Second, 100
	got, err := explain(t, f, x, rules, mesh.Axis{Name: "data", Size: 1}).Cost(slow)
	if want := time.Second + 3200*time.Microsecond; err != nil || got.Compute != want || got.Fits {
		t.Errorf("got %+v, %v; want %v", got, err, want)
	}
}

// Elementwise operations that run together read and write once, views nothing.
func TestCostOfChains(t *testing.T) {
	x := named.Of(ops.Range(0.0, 1000.0, 1.0), Batch{})
	e := explain(t, func(x *named.Tensor) tenon.Value { return ops.Exp(ops.Neg(ops.Mul(x, x))) }, x, []mesh.Rule{mesh.On[Batch]("data")}, mesh.Axis{Name: "data", Size: 10})
	got, err := e.Cost(plain)
	if err != nil || got.Bytes < 1600 || got.Bytes > 2400+8 || got.Communicate != 0 {
		t.Errorf("got %+v, %v", got, err)
	}
}

// Groups along the last axis are in a host, those along the first one are between hosts.
func TestCostOfPlaces(t *testing.T) {
	time := func(axis string, on mesh.Machine) float64 {
		x := tensor.Tensor(ops.Ones(dtype.Float64, []int{100}))
		e := explain(t, func(x tensor.Tensor) tensor.Tensor { return dist.AllReduce(x, dist.Sum, mesh.GroupOf(axis)) }, x, nil, mesh.Axis{Name: "data", Size: 16}, mesh.Axis{Name: "model", Size: 4})
		c, err := e.Cost(on)
		if err != nil {
			t.Fatal(err)
		}
		return c.Communicate.Seconds()
	}
	far := plain
	far.Between.Latency *= 1000
	if a, b := time("model", plain), time("model", far); a != b {
		t.Errorf("within a host: %v, and %v with slow links between hosts", a, b)
	}
	if a, b := time("data", plain), time("data", far); math.Abs(b-a-4*9990e-6) > 1e-2 || b <= a {
		t.Errorf("between hosts: %v, and %v with slow links", a, b)
	}
}

// A machine that lacks a figure is an error that names it.
func TestCostErrors(t *testing.T) {
	x := named.Ones(dtype.Float64, Batch{}.Of(8), Embed{}.Of(10))
	e := explain(t, func(x *named.Tensor) *named.Tensor { return named.Sum[Batch](x) }, x, []mesh.Rule{mesh.On[Batch]("data")}, mesh.Axis{Name: "data", Size: 8})
	for want, change := range map[string]func(*mesh.Machine){
		"no FLOPS":                      func(m *mesh.Machine) { m.FLOPS = 0 },
		"no Bandwidth":                  func(m *mesh.Machine) { m.Bandwidth = math.NaN() },
		"Bandwidth of the link Within":  func(m *mesh.Machine) { m.Within = mesh.Link{} },
		"Bandwidth of the link Between": func(m *mesh.Machine) { m.Between = mesh.Link{} },
		"host with -1 ranks":            func(m *mesh.Machine) { m.Ranks = -1 },
	} {
		m := plain
		change(&m)
		if _, err := e.Cost(m); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// A program can be weighed before there is a machine to run it on.
func ExampleExplanation_Cost() {
	host := mesh.Machine{
		FLOPS: 50e9, Bandwidth: 10e9, Memory: 4e9, Ranks: 2,
		Within: mesh.Link{Latency: 10 * time.Microsecond, Bandwidth: 4e9}, Between: mesh.Link{Latency: 30 * time.Microsecond, Bandwidth: 1.25e9},
	}
	type in struct{ X, Y *named.Tensor }
	gradient := func(a in) *named.Tensor { return named.Contract[Batch](a.X, a.Y) }
	for _, ranks := range []int{1, 2, 16} {
		m := tenon.Must(mesh.Abstract(0, mesh.Axis{Name: "data", Size: ranks}))
		e, err := mesh.Function(m, gradient).Explain(tenon.Must(m.Plan(mesh.On[Batch]("data"))), in{
			named.Ones(dtype.Float32, Batch{}.Of(4096), Embed{}.Of(512)),
			named.Ones(dtype.Float32, Batch{}.Of(4096), Hidden{}.Of(512)),
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(ranks, tenon.Must(e.Cost(host)))
	}
	// Output:
	// 1 42.949673ms = 42.949673ms + 0s of communication, 17.8 MB
	// 2 21.914266ms = 21.474836ms + 439.43µs of communication, 10.5 MB
	// 16 4.909417ms = 2.684355ms + 2.225062ms of communication, 3.15 MB
}

// The figures of a machine are measured by its ranks, all at the same time.
func TestMeasure(t *testing.T) {
	for _, n := range []int{1, 2} {
		err := dist.Simulate(t.Context(), n, dist.Options{}, func(ctx context.Context, c *dist.Comm) error {
			on, err := mesh.Measure(ctx, c)
			if err != nil {
				return err
			}
			if on.FLOPS < 1e6 || on.Bandwidth < 1e6 || on.Step <= 0 || on.Ranks != n || (on.Within.Bandwidth > 0) != (n > 1) {
				return fmt.Errorf("%+v", on)
			}
			return nil
		})
		if err != nil {
			t.Error(n, err)
		}
	}
}
