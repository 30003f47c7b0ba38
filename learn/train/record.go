package train

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/learn/runs"
)

// settings are the options of a run that its record holds.
type settings struct {
	Optimizer  map[string]any `json:"optimizer"`
	Epochs     int            `json:"epochs"`
	Batches    int            `json:"batches"`
	Steps      int            `json:"steps"`
	ClipNorm   float64        `json:"clip_norm,omitempty"`
	ClipValue  float64        `json:"clip_value,omitempty"`
	Accumulate int            `json:"accumulate,omitempty"`
	Average    float64        `json:"average,omitempty"`
	Compute    string         `json:"compute,omitempty"`
	Patience   int            `json:"patience,omitempty"`
	Checkpoint string         `json:"checkpoint,omitempty"`
	Run        string         `json:"run,omitempty"`
	Own        any            `json:"own,omitempty"` // FitOptions.Settings
}

// openLog starts the record of a run, or continues it.
func (r *run[P, B]) openLog() (err error) {
	if r.Log == "" || !r.Ranks.Leads() {
		return nil
	}
	o := r.FitOptions
	flat, err := flatten(r.initial, o.Options)
	if err != nil {
		return err
	}
	s := settings{
		Optimizer: optimizerSettings(flat.optimizers[0]), Epochs: max(1, o.Epochs), Batches: o.Data.Batches, Steps: r.steps,
		ClipNorm: o.ClipNorm, ClipValue: o.ClipValue, Accumulate: o.Accumulate, Average: o.Average,
		Patience: o.Patience, Checkpoint: o.Checkpoint, Run: o.Run, Own: o.Settings,
	}
	if o.Compute != dtype.None {
		s.Compute = o.Compute.String()
	}
	i := runs.Info{Seed: o.Seed, Settings: s}
	for _, t := range flat.tensors() {
		i.Parameters += int64(max(0, t.Shape().Size()))
	}
	if r.from > 0 {
		r.log, err = runs.Resume(r.Log, r.from, i)
	} else {
		r.log, err = runs.Create(r.Log, i)
	}
	return err
}

// closeLog closes the record.
func (r *run[P, B]) closeLog() error {
	if r.log == nil {
		return nil
	}
	return r.log.Close(string(r.reason))
}

// optimizerSettings returns the kind of an optimizer and its options. Rates are recorded with the
// events.
func optimizerSettings(o Optimizer) map[string]any {
	out := map[string]any{}
	if b, err := json.Marshal(o); err == nil {
		_ = json.Unmarshal(b, &out) // an optimizer of another package may not be a JSON object: then only its kind is recorded
	}
	t := reflect.TypeOf(o)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if out == nil {
		out = map[string]any{}
	}
	out["kind"] = strings.TrimPrefix(fmt.Sprint(t), "train.")
	return out
}
