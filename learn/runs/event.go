package runs

import (
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// An Event is what is known after a step. Numbers that were not measured are not set.
type Event struct {
	Step  int // batches seen, from 1 on
	Steps int // how many there will be at most; 0: not known
	Epoch int // from 0 on

	Loss  float64 // of the batch, before the step
	Rate  *float64
	Norm  *float64 // of the gradients
	Score *float64 // of a validation after the step
	Best  bool     // the score is the best so far

	// Values are any other numbers, by name.
	Values map[string]float64

	Elapsed time.Duration // since the start, or since the run was resumed
	Time    time.Time     // the zero value is left out
}

// A named number is one of an event.
type named struct {
	name  string
	value float64
}

// measured returns the numbers of an event by name: the loss, what else was measured, and what
// was added.
func (e Event) measured() []named {
	out := []named{{"loss", e.Loss}}
	for _, x := range []struct {
		name  string
		value *float64
	}{{"score", e.Score}, {"rate", e.Rate}, {"norm", e.Norm}} {
		if x.value != nil {
			out = append(out, named{x.name, *x.value})
		}
	}
	for _, name := range sortedKeys(e.Values) {
		out = append(out, named{name, e.Values[name]})
	}
	return out
}

// form is an event as a line of JSON.
type form struct {
	Step    int               `json:"step,omitempty"`
	Steps   int               `json:"steps,omitempty"`
	Epoch   int               `json:"epoch"`
	Loss    *Number           `json:"loss,omitempty"`
	Rate    *Number           `json:"rate,omitempty"`
	Norm    *Number           `json:"norm,omitempty"`
	Score   *Number           `json:"score,omitempty"`
	Best    bool              `json:"best,omitempty"`
	Values  map[string]Number `json:"values,omitempty"`
	Seconds float64           `json:"seconds"`
	Time    *time.Time        `json:"time,omitempty"`

	// These stand alone in a line.
	Resume *int   `json:"resume,omitempty"`
	End    string `json:"end,omitempty"`
}

// MarshalJSON returns the line of an event. Numbers that JSON lacks are the texts "NaN",
// "Infinity" and "-Infinity".
func (e Event) MarshalJSON() ([]byte, error) {
	loss := Number(e.Loss)
	f := form{Step: e.Step, Steps: e.Steps, Epoch: e.Epoch, Loss: &loss, Rate: (*Number)(e.Rate), Norm: (*Number)(e.Norm), Score: (*Number)(e.Score), Best: e.Best, Seconds: e.Elapsed.Seconds()}
	if len(e.Values) > 0 {
		f.Values = make(map[string]Number, len(e.Values))
		for k, v := range e.Values {
			f.Values[k] = Number(v)
		}
	}
	if !e.Time.IsZero() {
		f.Time = &e.Time
	}
	return json.Marshal(f)
}

// event returns what a line says.
func (f form) event() Event {
	e := Event{Step: f.Step, Steps: f.Steps, Epoch: f.Epoch, Loss: math.NaN(), Rate: (*float64)(f.Rate), Norm: (*float64)(f.Norm), Score: (*float64)(f.Score), Best: f.Best}
	e.Elapsed = time.Duration(f.Seconds * float64(time.Second))
	if f.Loss != nil {
		e.Loss = float64(*f.Loss)
	}
	if f.Time != nil {
		e.Time = *f.Time
	}
	if len(f.Values) > 0 {
		e.Values = make(map[string]float64, len(f.Values))
		for k, v := range f.Values {
			e.Values[k] = float64(v)
		}
	}
	return e
}

// UnmarshalJSON reads the line of an event.
func (e *Event) UnmarshalJSON(b []byte) error {
	var f form
	if err := json.Unmarshal(b, &f); err != nil {
		return err
	}
	*e = f.event()
	return nil
}

// A Number is a float64 in JSON. Numbers that JSON lacks are the texts "NaN", "Infinity" and
// "-Infinity".
type Number float64

// MarshalJSON writes the number, or the text for one that JSON lacks.
func (x Number) MarshalJSON() ([]byte, error) {
	switch v := float64(x); {
	case math.IsNaN(v):
		return []byte(`"NaN"`), nil
	case math.IsInf(v, 1):
		return []byte(`"Infinity"`), nil
	case math.IsInf(v, -1):
		return []byte(`"-Infinity"`), nil
	default:
		return json.Marshal(v)
	}
}

// UnmarshalJSON reads what MarshalJSON writes.
func (x *Number) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case `"NaN"`:
		*x = Number(math.NaN())
	case `"Infinity"`:
		*x = Number(math.Inf(1))
	case `"-Infinity"`:
		*x = Number(math.Inf(-1))
	default:
		var v float64
		if err := json.Unmarshal(b, &v); err != nil {
			return fmt.Errorf("%.40s is no number", b)
		}
		*x = Number(v)
	}
	return nil
}
