// Package runs records training runs: their settings, and the results of each step.
//
// A record is a folder with two files in plain formats:
//
//	run.json      the name, the time, the machine, the commit, the seed and the settings
//	events.jsonl  a line for each step: loss, rate, norm, score, time
//
// [train.FitOptions].Log makes a record. A training loop of your own uses [Create]:
//
//	w, err := runs.Create("runs/first", runs.Info{Seed: 1, Settings: options})
//	w.Add(runs.Event{Step: 1, Loss: 0.7})
//	w.Close("finished")
//
// [Read] and [List] read records, even while they are being written. [Differences] returns the
// settings in which runs differ, and [Run.WriteTensorBoard] exports a run to TensorBoard. The
// commands tenon runs and tenon view show them.
//
// # Glossary
//
//   - event: the values recorded after a step
//   - norm: the global norm of all gradients, before clipping
//   - resumed: continued from a checkpoint; later events are replaced
//
// Stability: experimental.
//
// [train.FitOptions]: https://pkg.go.dev/github.com/tenonml/tenon/learn/train#FitOptions
package runs
