// Command bench measures the workloads of the benchmark suite and prints a line
// of JSON for each case:
//
//	go run ./internal/bench -workload W [-case C] [-size tiny|small|full] [-threads N]
//
// Without -workload it lists what there is; "all" runs everything. With -threads 1 the process
// is pinned to the last CPU. The time of a case is taken from inputs in memory to
// a complete result; the first call is reported apart, then there are two calls to warm up and
// at least five that count, within a budget (-budget).
//
// A line has the fields workload, case, peer ("tenon"), size, threads, metric,
// median, min and runs in seconds of one operation, inner (operations in a
// sample), first_s, throughput, checksum (package inputs), faults (page faults of one
// operation) and other_cpu (CPUs that others used meanwhile; above 0.1 a figure
// is not to be quoted).
//
// "bench serve" serves the functions of serve_qps for other load generators, and "bench send
// -url URL -body FILE" loads any server; rivals.py runs both beside other servers.
//
// A workload is added by a file of this package whose init function calls
// register. Several files may add cases to one workload. "go test -bench
// 'Workload/spec_nest' ./internal/bench" runs the same cases for profiling.
package main
