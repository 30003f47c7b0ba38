package train

import (
	"encoding/json"
	"io"
	"log/slog"

	"github.com/tenonml/tenon/learn/runs"
)

// LogJSON returns a function for FitOptions.OnStep that writes each event as a line of JSON:
//
//	{"step":1,"steps":24,"epoch":0,"loss":0.69,"seconds":0.01}
//	{"step":8,"steps":24,"epoch":0,"loss":0.52,"score":0.48,"best":true,"seconds":0.05}
//
// Numbers that JSON does not have are written as the strings "NaN", "Infinity" and "-Infinity".
// To continue the log of a resumed run, open its file for appending.
func LogJSON(w io.Writer) func(Event) error {
	return func(e Event) error {
		b, err := json.Marshal(e.logged())
		if err == nil {
			_, err = w.Write(append(b, '\n'))
		}
		return err
	}
}

// Log returns a function for FitOptions.OnStep that logs validations, and every step at debug
// level.
func Log(l *slog.Logger) func(Event) error {
	return func(e Event) error {
		attrs := []any{"step", e.Step, "of", e.Steps, "epoch", e.Epoch, "loss", e.Loss}
		if e.Scored {
			l.Info("validated", append(attrs, "score", e.Score, "best", e.Best, "left", e.Remaining)...)
			return nil
		}
		l.Debug("trained", attrs...)
		return nil
	}
}

// logged returns an event in the form that package runs writes.
func (e Event) logged() runs.Event {
	out := runs.Event{Step: e.Step, Steps: e.Steps, Epoch: e.Epoch, Loss: e.Loss, Rate: e.Rate, Norm: e.Norm, Best: e.Best, Elapsed: e.Elapsed}
	if e.Scored {
		out.Score = &e.Score
	}
	return out
}
