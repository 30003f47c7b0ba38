package train

import (
	"encoding/json"
	"io"
	"log/slog"
	"math"
)

// line is an event as a line of JSON.
type line struct {
	Step    int     `json:"step"`
	Steps   int     `json:"steps"`
	Epoch   int     `json:"epoch"`
	Loss    any     `json:"loss"`
	Score   any     `json:"score,omitempty"`
	Best    bool    `json:"best,omitempty"`
	Seconds float64 `json:"seconds"`
}

// LogJSON returns a function for FitOptions.OnStep that writes each event as a line of JSON:
//
//	{"step":1,"steps":24,"epoch":0,"loss":0.69,"seconds":0.01}
//	{"step":8,"steps":24,"epoch":0,"loss":0.52,"score":0.48,"best":true,"seconds":0.05}
//
// Numbers that JSON lacks are the texts "NaN", "Infinity" and "-Infinity". A file that is opened
// for appending goes on where a run is resumed.
func LogJSON(w io.Writer) func(Event) error {
	return func(e Event) error {
		l := line{Step: e.Step, Steps: e.Steps, Epoch: e.Epoch, Loss: jsonNumber(e.Loss), Best: e.Best, Seconds: e.Elapsed.Seconds()}
		if e.Scored {
			l.Score = jsonNumber(e.Score)
		}
		b, err := json.Marshal(l)
		if err == nil {
			_, err = w.Write(append(b, '\n'))
		}
		return err
	}
}

// Log returns a function for FitOptions.OnStep that tells a logger of validations, and of each
// step at the level of debugging.
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

// jsonNumber returns a number, or the text for one that JSON lacks.
func jsonNumber(x float64) any {
	switch {
	case math.IsNaN(x):
		return "NaN"
	case math.IsInf(x, 1):
		return "Infinity"
	case math.IsInf(x, -1):
		return "-Infinity"
	}
	return x
}
