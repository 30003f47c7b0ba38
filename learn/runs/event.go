package runs

import (
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// An Event holds what is measured in a step. Numbers that were not measured are nil.
type Event struct {
	Step  int // batches seen, counting from 1
	Steps int // the maximum number of batches; 0: unknown
	Epoch int // counting from 0

	Loss  float64 // of the batch, before the step
	Rate  *float64
	Norm  *float64 // of the gradients
	Score *float64 // of a validation after the step
	Best  bool     // the score is the best so far

	// Values are any other numbers, by name.
	Values map[string]float64

	Elapsed time.Duration // since the start, or since the run was resumed
	Time    time.Time     // omitted if it is zero
}

// A named is a number of an event, with its name.
type named struct {
	name  string
	value float64
}

// measured returns the numbers of an event by name: the loss, the other measurements, and
// Values.
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

	// A line with one of these has no other fields.
	Resume *int   `json:"resume,omitempty"`
	End    string `json:"end,omitempty"`
}

// MarshalJSON returns the line of an event. Numbers that JSON does not have are the strings
// "NaN", "Infinity" and "-Infinity".
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

// event returns the event of a line.
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

// A Number is a float64 in JSON. Numbers that JSON does not have are the strings "NaN",
// "Infinity" and "-Infinity".
type Number float64

// MarshalJSON writes the number, or the string for one that JSON does not have.
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
			return fmt.Errorf("%.40s is not a number", b)
		}
		*x = Number(v)
	}
	return nil
}
