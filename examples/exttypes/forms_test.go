package exttypes_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/tensor"
)

// ofLibrary reports whether a type is one of the library's own, which have the methods of
// encoding/json and log/slog. What they write of other types, these say.
func ofLibrary(v tenon.Value) bool {
	name := v.Spec().TypeName()
	for _, prefix := range []string{"tensor.", "ragged.", "masked.", "sparse.", "structured.", "named."} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// inGob sends values as parts of a structure of plain Go data.
func inGob(t *testing.T, r row) {
	type message struct {
		Name  string
		Parts []saved.Binary
		None  saved.Binary
	}
	var b bytes.Buffer
	tenon.Throw(gob.NewEncoder(&b).Encode(message{"two", []saved.Binary{{Value: r.a}, {Value: r.b}}, saved.Binary{}}))
	var back message
	tenon.Throw(gob.NewDecoder(&b).Decode(&back))
	if back.Name != "two" || len(back.Parts) != 2 || back.None.Value != nil {
		t.Fatalf("got %v", back)
	}
	want(t, "first", back.Parts[0].Value, r.a)
	want(t, "second", back.Parts[1].Value, r.b)
}

// inLog writes values as package log/slog does: one line each, with their Specs.
func inLog(t *testing.T, r row) {
	var x any = r.a
	if !ofLibrary(r.a) {
		x = tensor.LogValue(r.a)
	}
	var b strings.Builder
	slog.New(slog.NewTextHandler(&b, nil)).Info("seen", "x", x)
	if n := strings.Count(b.String(), "\n"); n != 1 || strings.Contains(b.String(), `\n`) {
		t.Errorf("%d lines: %s", n, b.String())
	}
	b.Reset()
	slog.New(slog.NewJSONHandler(&b, nil)).Info("seen", "x", x)
	var line struct{ X string }
	if err := json.Unmarshal([]byte(b.String()), &line); err != nil || !strings.HasPrefix(line.X, tenon.String(r.a.Spec())) {
		t.Errorf("%s: %v", b.String(), err)
	}
	if got, err := json.Marshal(r.a); ofLibrary(r.a) && (err != nil || !bytes.Equal(got, must(tensor.AppendJSON(nil, r.a)))) {
		t.Errorf("encoding/json writes %s, %v", got, err)
	}
}
