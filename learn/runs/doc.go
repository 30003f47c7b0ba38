// Package runs keeps records of training runs: what they were started with, and what came of
// each step.
//
// A record is a folder with two files that any tool reads:
//
//	run.json      the name, the time, the machine, the commit, the seed and the settings
//	events.jsonl  a line for each step: loss, rate, norm, score, time
//
// [train.FitOptions].Log makes one; a loop of one's own uses [Create]:
//
//	w, err := runs.Create("runs/first", runs.Info{Seed: 1, Settings: options})
//	w.Add(runs.Event{Step: 1, Loss: 0.7})
//	w.Close("finished")
//
// [Read] and [List] read records, also while they are written; [Differences] says in which
// settings runs differ, and [Run.WriteTensorBoard] writes a run as TensorBoard reads it. The
// commands tenon runs and tenon view show them.
//
// # Glossary
//
//   - event: what is known after a step
//   - norm: that of all gradients together, before they are clipped
//   - resumed: gone on with from a checkpoint; events behind it are replaced
//
// Stability: experimental.
//
// [train.FitOptions]: https://pkg.go.dev/github.com/tenonml/tenon/learn/train#FitOptions
package runs
