package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// sizes of inputs: a smoke test, one to check answers, and the benchmark.
var sizes = []string{"tiny", "small", "full"}

var workloads = map[string][]func(*runner){}

// register adds cases to a workload.
func register(workload string, cases func(*runner)) {
	workloads[workload] = append(workloads[workload], cases)
}

func main() {
	commands := map[string]func(args []string) error{"serve": serveMain, "send": sendMain}
	if len(os.Args) > 1 && commands[os.Args[1]] != nil {
		exit(commands[os.Args[1]](os.Args[2:]))
	}
	workload := flag.String("workload", "", "workload to run, or all")
	only := flag.String("case", "", "cases to run, separated by commas")
	size := flag.String("size", "full", "tiny, small or full")
	threads := flag.Int("threads", 0, "number of threads; 0 is all")
	budget := flag.Duration("budget", 2*time.Second, "time for the runs of a case")
	flag.Parse()
	exit(bench(os.Stdout, *workload, *only, *size, *threads, *budget))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func names() []string {
	var out []string
	for n := range workloads {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

func bench(w io.Writer, workload, only, size string, threads int, budget time.Duration) error {
	if workload == "" {
		fmt.Fprintln(w, strings.Join(names(), "\n"))
		return nil
	}
	if !slices.Contains(sizes, size) {
		return fmt.Errorf("there is no size %q: there are %s", size, strings.Join(sizes, ", "))
	}
	run := []string{workload}
	if workload == "all" {
		run = names()
	} else if workloads[workload] == nil {
		return fmt.Errorf("there is no workload %q: there are %s", workload, strings.Join(names(), ", "))
	}
	if threads == 1 {
		if err := pin(); err != nil {
			return err
		}
	}
	if threads == 0 {
		threads = runtime.NumCPU()
	}
	runtime.GOMAXPROCS(threads)
	for _, name := range run {
		r := &runner{out: w, workload: name, size: size, threads: threads, budget: budget}
		if only != "" {
			r.only = strings.Split(only, ",")
		}
		for _, cases := range workloads[name] {
			cases(r)
		}
		if r.err != nil {
			return r.err
		}
	}
	return nil
}
