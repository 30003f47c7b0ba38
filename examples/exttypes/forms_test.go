package exttypes_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/model/saved"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/named/coords"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/sparse"
	"github.com/tenonml/tenon/structured"
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

// The long form of a value has all of its elements, and the other one those at its ends.
func TestLongForms(t *testing.T) {
	const n, middle = 3000, "2507.25"
	x := make([]float64, n)
	words := make([]string, n)
	for i := range x {
		x[i] = float64(i) + 1000.25
		words[i] = fmt.Sprint(x[i])
	}
	v := tensor.Vector(x)
	records := must(structured.FromFields([]structured.Field{{Name: "x", Value: v}}, shape.Of(n), structured.Options{}))
	for _, v := range []tenon.Value{
		v, must(tensor.Convert(words)), must(ragged.FromRowSplits(v, []int64{0, 5, n})), must(masked.New(v, slices.Repeat([]bool{true}, n))),
		must(sparse.FromDense([][]float64{x})), must(sparse.ToCSR(must(sparse.FromDense([][]float64{x})))), records,
		must(structured.NewUnion(make([]int64, n), []structured.Field{{Name: "x", Value: v}})), must(structured.EncodeStrings(words)),
		must(structured.NewMap(must(ragged.PartitionFromRowLengths([]int64{n}, ragged.PartitionOptions{})), words, x)),
		named.Of(v, city{}), coords.New(named.Of(v, city{}), coords.Along[city](words)),
	} {
		short, long := fmt.Sprintf("%v", v), fmt.Sprintf("%+v", v)
		if strings.Contains(short, middle) || !strings.Contains(long, middle) || !strings.Contains(long, "3999.25") {
			t.Errorf("%T: %d characters, %d in full: %.300s", v, len(short), len(long), long)
		}
		if got := fmt.Sprintf("%d", v); !strings.HasPrefix(got, "%!d(") || len(got) > 10*n {
			t.Errorf("%%d of a %T is %.100s", v, got)
		}
	}
}
