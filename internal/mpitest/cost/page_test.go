package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tenonml/tenon/scale/mesh"
)

// host is what the program measured on two ranks of one machine; the link between hosts is that of 10 Gbit/s Ethernet, and was
// not measured.
var host = mesh.Machine{
	FLOPS: 77.7e9, Bandwidth: 20.1e9, Step: 698 * time.Nanosecond, Ranks: 2,
	Within:  mesh.Link{Latency: 8359 * time.Nanosecond, Bandwidth: 3.43e9},
	Between: mesh.Link{Latency: 30 * time.Microsecond, Bandwidth: 1.25e9},
}

const strong, weak = 2048, 32 // sequences of all ranks, and of each

// The table in the documentation is what the model predicts.
func TestPage(t *testing.T) {
	var b strings.Builder
	b.WriteString("| hosts | 2,048 sequences | of it communication | efficiency | memory of a rank | 32 sequences a rank | of it communication | efficiency |\n|---|---|---|---|---|---|---|---|\n")
	one := [2]float64{}
	for hosts := 1; hosts <= 1024; hosts *= 2 {
		ranks := 2 * hosts
		fmt.Fprintf(&b, "| %d |", hosts)
		for i, sequences := range []int{strong, weak * ranks} {
			e, err := explain(ranks, sequences)
			if err != nil {
				t.Fatal(err)
			}
			c, err := e.Cost(host)
			if err != nil {
				t.Fatal(err)
			}
			if c.Unknown > 0 {
				t.Errorf("%d hosts: %d operations are not known", hosts, c.Unknown)
			}
			if hosts == 1 {
				one[i] = c.Total().Seconds()
			}
			efficiency := one[i] / c.Total().Seconds()
			if i == 0 {
				efficiency /= float64(hosts)
			}
			fmt.Fprintf(&b, " %.1f ms | %.1f ms | %.0f %% |", c.Total().Seconds()*1e3, c.Communicate.Seconds()*1e3, 100*efficiency)
			if i == 0 {
				fmt.Fprintf(&b, " %.0f MB |", c.Memory/1e6)
			}
		}
		b.WriteString("\n")
	}
	page, err := os.ReadFile("../../../docs/distributed.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), b.String()) {
		t.Errorf("docs/distributed.md has another table than\n%s", b.String())
	}
}
