package runs_test

import (
	stdcmp "cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/data/protoio"
	"github.com/tenonml/tenon/learn/runs"
)

func ExampleCreate() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	type settings struct{ Width, Depth int }
	for i, width := range []int{64, 128} {
		w, err := runs.Create(filepath.Join(dir, fmt.Sprint("run", i)), runs.Info{Seed: 1, Settings: settings{width, 2}})
		if err != nil {
			panic(err)
		}
		for step := range 3 {
			if err := w.Add(runs.Event{Step: step + 1, Loss: 1 / float64(width+step)}); err != nil {
				panic(err)
			}
		}
		if err := w.Close("finished"); err != nil {
			panic(err)
		}
	}
	list, err := runs.List(dir)
	if err != nil {
		panic(err)
	}
	for _, r := range list {
		last, _ := r.Last()
		fmt.Printf("%s: %s after step %d, loss %.4f\n", r.Name, r.End, last.Step, last.Loss)
	}
	fmt.Println(runs.Differences(list...))
	// Output:
	// run0: finished after step 3, loss 0.0152
	// run1: finished after step 3, loss 0.0077
	// [{settings.Width [64 128]}]
}

func ExampleSeries_Smooth() {
	s := runs.Series{Name: "loss", Steps: []int{1, 2, 3}, Values: []float64{4, 2, 3}}
	fmt.Printf("%.2f\n", s.Smooth(0.5))
	// Output: [4.00 2.67 2.86]
}

func ref(x float64) *float64 { return &x }

// What is written is read, numbers that JSON lacks included.
func TestEventsComeBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a")
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	want := []runs.Event{
		{Step: 1, Steps: 4, Loss: 0.5, Rate: ref(0.1), Norm: ref(2), Elapsed: time.Second, Time: at},
		{Step: 2, Steps: 4, Loss: math.Inf(1), Norm: ref(math.NaN()), Elapsed: 2 * time.Second, Time: at},
		{Step: 3, Steps: 4, Epoch: 1, Loss: math.NaN(), Score: ref(0), Best: true, Values: map[string]float64{"länge": math.Inf(-1), "b": 2}, Time: at},
	}
	w, err := runs.Create(dir, runs.Info{Name: "<b>", Seed: math.MaxUint64, Settings: map[string]any{"x": []int{1, 2}}, Notes: "ü"})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range want {
		if err := w.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close("early"); err != nil {
		t.Fatal(err)
	}
	if err := w.Add(want[0]); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("a closed record takes events: %v", err)
	}
	r, err := runs.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, r.Events, cmpopts.EquateNaNs()); d != "" {
		t.Error(d)
	}
	if r.Name != "<b>" || r.Seed != math.MaxUint64 || r.End != "early" || r.Go == "" || r.Started.IsZero() || r.Notes != "ü" {
		t.Errorf("got %+v", r.Info)
	}
	var names []string
	for _, s := range r.Series() {
		names = append(names, s.Name)
	}
	if d := cmp.Diff([]string{"loss", "rate", "norm", "score", "b", "länge"}, names); d != "" {
		t.Error(d)
	}
}

// Events behind the step that a run is resumed at are replaced.
func TestResumedRunsReplaceEvents(t *testing.T) {
	dir := t.TempDir()
	w, err := runs.Resume(dir, 0, runs.Info{})
	for i := 1; i <= 5 && err == nil; i++ {
		err = w.Add(runs.Event{Step: i, Loss: 1})
	}
	if err = errors.Join(err, w.Close("interrupted")); err != nil {
		t.Fatal(err)
	}
	if _, err := runs.Create(dir, runs.Info{}); !errors.Is(err, tenon.ErrInvalid) || !strings.Contains(err.Error(), "separate folder for each run") {
		t.Errorf("a record is replaced: %v", err)
	}
	w, err = runs.Resume(dir, 3, runs.Info{})
	for i := 4; i <= 6 && err == nil; i++ {
		err = w.Add(runs.Event{Step: i, Loss: 2})
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close("finished"); err != nil {
		t.Fatal(err)
	}
	r, err := runs.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []float64
	for i, e := range r.Events {
		if e.Step != i+1 {
			t.Errorf("event %d is of step %d", i, e.Step)
		}
		got = append(got, e.Loss)
	}
	if !slices.Equal(got, []float64{1, 1, 1, 2, 2, 2}) || !slices.Equal(r.Resumed, []int{3}) || r.End != "finished" {
		t.Errorf("got %v, %v, %q", got, r.Resumed, r.End)
	}
}

// A record that is being written has a last line that is not whole.
func TestHalfALine(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{"run.json": `{"version":1,"name":"x"}`, "events.jsonl": "{\"step\":1,\"loss\":2}\n\n{\"step\":2,\"lo"}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r, err := runs.Read(dir)
	if err != nil || len(r.Events) != 1 || r.End != "" {
		t.Errorf("got %v, %v", r, err)
	}
}

func TestBadRecords(t *testing.T) {
	for name, tt := range map[string]struct {
		info, events string
		kind         error
		word         string
	}{
		"no record":    {"", "", tenon.ErrNotFound, "run.json"},
		"no JSON":      {"{", "", tenon.ErrInvalid, "run.json"},
		"a newer form": {`{"version":99}`, "", tenon.ErrInvalid, "99"},
		"a bad line":   {`{"version":1}`, "{\"step\":1}\n{\"step\":true}\n", tenon.ErrInvalid, "line 2"},
		"a bad number": {`{"version":1}`, "{\"step\":1,\"loss\":[1]}\n", tenon.ErrInvalid, "not a number"},
	} {
		dir := t.TempDir()
		if tt.info != "" {
			if err := os.WriteFile(filepath.Join(dir, "run.json"), []byte(tt.info), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "events.jsonl"), []byte(tt.events), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := runs.Read(dir)
		if !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.word) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := runs.List(filepath.Join(t.TempDir(), "none")); !errors.Is(err, tenon.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

// The bytes are those that TensorBoard reads: checked with tensorboard 2.21, whose reading of
// this file is the numbers below.
func TestTensorBoard(t *testing.T) {
	r := &runs.Run{Info: runs.Info{Host: "a/b", Started: time.Unix(1700000000, 0)}, Events: []runs.Event{
		{Step: 300, Loss: 0.5, Rate: ref(0.25), Time: time.Unix(1700000001, 0), Values: map[string]float64{"größe": 2}},
	}}
	name, err := r.WriteTensorBoard(filepath.Join(t.TempDir(), "x"))
	if err != nil {
		t.Fatal(err)
	}
	if base := filepath.Base(name); base != "events.out.tfevents.1700000000.a_b" {
		t.Errorf("the file is %s", base)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rd, err := protoio.NewRecordReader(f, protoio.RecordOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for m, err := range rd.All() {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(m))
	}
	wall := func(x float64) string {
		return string(binary.LittleEndian.AppendUint64([]byte{0x09}, math.Float64bits(x)))
	}
	scalar := func(tag string, v float32) string {
		one := "\x0a" + string(rune(len(tag))) + tag + string(binary.LittleEndian.AppendUint32([]byte{0x15}, math.Float32bits(v)))
		return "\x0a" + string(rune(len(one))) + one
	}
	summary := scalar("loss", 0.5) + scalar("rate", 0.25) + scalar("größe", 2)
	want := []string{
		wall(1.7e9) + "\x1a\x0dbrain.Event:2",
		wall(1.700000001e9) + "\x10\xac\x02" + "\x2a" + string(rune(len(summary))) + summary,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"version":1}`), []byte("{\"step\":1,\"loss\":0.5}\n{\"resume\":0}\n{\"end\":\"x\"}\n"))
	f.Add([]byte(`{"version":1,"settings":{"a":[1,{}]}}`), []byte("{\"step\":-1,\"values\":{\"a\":\"NaN\"}}\n"))
	f.Fuzz(func(t *testing.T, info, events []byte) {
		dir := t.TempDir()
		for name, b := range map[string][]byte{"run.json": info, "events.jsonl": events} {
			if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		r, err := runs.Read(dir)
		if err != nil {
			return
		}
		for _, s := range r.Series() {
			s.Smooth(0.9)
		}
		runs.Differences(r, &runs.Run{})
		if !slices.IsSortedFunc(r.Events, func(a, b runs.Event) int { return stdcmp.Compare(a.Step, b.Step) }) {
			t.Errorf("the steps are %v", r.Events)
		}
	})
}
