package nest_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/nest"
	"github.com/tenonml/tenon/tensor"
)

type (
	openLayer   struct{ W tensor.Tensor }
	hiddenOne   struct{ w tensor.Tensor }
	hiddenLayer struct {
		Head openLayer
		body []*openLayer
	}
	hiddenAny    struct{ layers []any }
	hiddenInside struct{ Blocks []hiddenLayer }
	embedsHidden struct{ openLayer }
	leftOut      struct {
		W     tensor.Tensor
		cache map[string]openLayer `tenon:"-"`
	}
	plainHidden struct {
		W       tensor.Tensor
		name    string
		since   time.Time
		rates   []float64
		options any
	}
	misspelt struct {
		W     tensor.Tensor
		Units int `tenon:"statc"`
	}
)

func TestFieldsThatAreNotExported(t *testing.T) {
	w := tensor.Of([]float32{1, 2})
	for _, c := range []struct {
		name string
		x    any
		text string // "": no error
	}{
		{"a tensor", hiddenOne{w}, "w: the field is not exported"},
		{"layers", &hiddenLayer{openLayer{w}, []*openLayer{{w}}}, "body: the field is not exported"},
		{"none of them now", hiddenLayer{}, "body: the field is not exported"},
		{"below others", map[string]any{"m": hiddenInside{[]hiddenLayer{{}}}}, "m.Blocks.body: the field is not exported"},
		{"embedded", embedsHidden{openLayer{w}}, "openLayer: the field is not exported"},
		{"in an interface", hiddenAny{[]any{1, &openLayer{w}}}, "layers: the field is not exported"},
		{"nothing in an interface", hiddenAny{[]any{1, "a"}}, ""},
		{"left out", leftOut{W: w, cache: map[string]openLayer{"a": {w}}}, ""},
		{"no Values", plainHidden{W: w, name: "a", since: time.Now(), rates: []float64{1}, options: 3}, ""},
	} {
		_, err := nest.Flatten(c.x, nest.Options{})
		switch {
		case c.text == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.text != "" && (!errors.Is(err, tenon.ErrInvalid) || !strings.Contains(err.Error(), c.text) || !strings.Contains(err.Error(), "export it")):
			t.Errorf("%s: got %v, want %q", c.name, err, c.text)
		}
	}
}

func TestTagThatNobodyKnows(t *testing.T) {
	_, err := nest.Flatten(misspelt{W: tensor.Of([]float32{1})}, nest.Options{})
	if !errors.Is(err, tenon.ErrInvalid) || !strings.Contains(err.Error(), `Units: the tag has the unknown item "statc"`) {
		t.Errorf("got %v", err)
	}
}
