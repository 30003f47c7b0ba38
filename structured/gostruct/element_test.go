package gostruct_test

import (
	"errors"
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

// Elements go to Go types and come back, as map keys too.
func TestElements(t *testing.T) {
	type row struct {
		ID    id
		Maybe *id
		All   []id
		Took  map[time.Duration]int32
		By    map[id]string
		At    time.Time
	}
	a, b := id{0: 1, 15: 2}, id{7: 255}
	want := []row{
		{ID: a, Maybe: &b, All: []id{a, b}, Took: map[time.Duration]int32{time.Second: 1, -1: 2}, By: map[id]string{b: "b", a: "a"}, At: time.Unix(5, 7).UTC()},
		{All: []id{}, Took: map[time.Duration]int32{}, By: map[id]string{}},
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
