package gostruct_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/element"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/structured/gostruct"
	"github.com/tenonml/tenon/tensor"
)

// id is what packages for UUIDs have.
type id [16]byte

type name string

// Elements go to Go types and come back, as map keys too.
func TestElements(t *testing.T) {
	type row struct {
		ID    id
		Maybe *id
		All   []id
		Took  map[time.Duration]int32
		By    map[id]string
		At    time.Time
		When  map[time.Time]string
		Yes   map[bool][]int32
		Near  map[float64]map[uint8]string
		Names map[name]int
	}
	a, b := id{0: 1, 15: 2}, id{7: 255}
	want := []row{
		{ID: a, Maybe: &b, All: []id{a, b}, Took: map[time.Duration]int32{time.Second: 1, -1: 2}, By: map[id]string{b: "b", a: "a"}, At: time.Unix(5, 7).UTC(),
			When: map[time.Time]string{time.Unix(9, 0).UTC(): "nine", time.Unix(-9, 1).UTC(): "before"}, Yes: map[bool][]int32{true: {1, 2}, false: {}},
			Near: map[float64]map[uint8]string{0.5: {255: "x"}, math.Inf(-1): {}}, Names: map[name]int{"b": 2, "a": 1}},
		{All: []id{}, Took: map[time.Duration]int32{}, By: map[id]string{}, When: map[time.Time]string{}, Yes: map[bool][]int32{}, Near: map[float64]map[uint8]string{}, Names: map[name]int{}},
	}
	x, err := gostruct.From(want)
	if err != nil {
		t.Fatal(err)
	}
	f := tenon.Must(x.Field("ID"))
	if typ, _ := element.TypeOf(f); typ != element.UUIDType {
		t.Errorf("16 bytes are %s", tenon.String(f.Spec()))
	}
	got, err := gostruct.To[row](x)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	if s, err := gostruct.SpecOf[row](); err != nil || !strings.Contains(tenon.String(s), "uuid") {
		t.Errorf("the Spec is %v, %v", s, err)
	}
	if got := structured.Datashape(tenon.Must(x.Field("Yes")).Spec()); got != "2 * map[bool, var * int32]" {
		t.Errorf("maps of truth values are %s", got)
	}
	// Keys that are one in a column, and two in Go, are refused.
	twice := []struct{ M map[time.Time]int }{{map[time.Time]int{time.Unix(1, 0).UTC(): 1, time.Unix(1, 0).In(time.FixedZone("x", 3600)): 2}}}
	if _, err := gostruct.From(twice); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("a time that stands twice: %v", err)
	}
	short := tenon.Must(element.New([]string{"abc", "abcd"}[:1], element.FixedOf(3)))
	rec := tenon.Must(structured.FromFieldsAndRank([]structured.Field{{Name: "X", Value: short}}, 1, structured.Options{}))
	if got, err := gostruct.To[struct{ X [3]byte }](rec); err != nil || string(got[0].X[:]) != "abc" {
		t.Errorf("got %v, %v", got, err)
	}
	rec = tenon.Must(structured.FromFieldsAndRank([]structured.Field{{Name: "X", Value: tensor.Of([]string{"ab"})}}, 1, structured.Options{}))
	var e *tenon.Error
	if _, err := gostruct.To[struct{ X [3]byte }](rec); !errors.As(err, &e) || e.Msg != "has 2 bytes, want 3 for [3]uint8" {
		t.Errorf("got %v", err)
	}
}
