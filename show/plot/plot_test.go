package plot_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/named/coords"
	"github.com/tenonml/tenon/show/plot"
)

type (
	City  struct{ named.Dim[City] }
	Year  struct{ named.Dim[Year] }
	Batch struct{ named.Dim[Batch] }
)

func rain() *coords.Array {
	return coords.New(named.Of([][]float64{{0, 1, 2}, {3, 4, math.NaN()}}, City{}, Year{}), coords.Along[City]("Oslo", "Rome"), coords.Along[Year](2020, 2021, 2022))
}

func ExampleHeatMap() {
	causal := named.Cast(named.CausalMask(City{}.Of(4), Year{}.Of(4)), dtype.Float32)
	m, err := plot.NewHeatMap(causal, City{}, Year{}, plot.Options{Title: "what is seen"})
	fmt.Println(m, err)
	// Output:
	// what is seen
	// City  Year
	//       0 1 2 3
	//    0  ██
	//    1  ████
	//    2  ██████
	//    3  ████████
	//         ░░▒▒▓▓██ 0 … 1 <nil>
}

// Whatever the order in which the tensor is stored, rows are rows; labels are those of
// the coordinates.
func TestTerminal(t *testing.T) {
	want := `City  Year
      2020
Oslo    ░░▒▒
Rome  ▓▓██··
        ░░▒▒▓▓██ 0 … 4`
	for _, x := range []tenon.Value{rain(), coords.Apply(func(x *named.Tensor) *named.Tensor { return named.Order(x, Year{}, City{}) }, rain())} {
		m, err := plot.NewHeatMap(x, City{}, Year{}, plot.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := m.String(); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		var b bytes.Buffer
		if err := m.WriteANSI(&b); err != nil || strings.Count(b.String(), "\x1b[48;2;") != 5+5 {
			t.Errorf("got %v, %q", err, b.String())
		}
	}
}

// A large matrix is drawn by means.
func TestLarge(t *testing.T) {
	m, err := plot.NewHeatMap(named.Ones(dtype.Int32, City{}.Of(200), Year{}.Of(130)), City{}, Year{}, plot.Options{})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(m.String(), "\n")
	if len(lines) != 2+50+1 || strings.Count(lines[2], "▒") != 2*44 {
		t.Errorf("got %d lines, the first of them %q", len(lines), lines[2])
	}
}

// SVG is well-formed and has names, labels and the title as text; PNG decodes.
func TestFiles(t *testing.T) {
	m, err := plot.NewHeatMap(rain(), City{}, Year{}, plot.Options{Title: "rain", Width: 300, Height: 200})
	if err != nil {
		t.Fatal(err)
	}
	var svg, picture bytes.Buffer
	if err := m.WriteSVG(&svg); err != nil {
		t.Fatal(err)
	}
	d, words := xml.NewDecoder(bytes.NewReader(svg.Bytes())), map[string]bool{}
	for {
		tok, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if c, ok := tok.(xml.CharData); ok {
			words[strings.TrimSpace(string(c))] = true
		}
	}
	for _, w := range []string{"rain", "City", "Year", "Oslo", "Rome", "2020", "2022"} {
		if !words[w] {
			t.Errorf("the picture lacks the word %q", w)
		}
	}
	if err := m.WritePNG(&picture); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&picture)
	if err != nil || img.Bounds().Dx() < 300 || img.Bounds().Dy() < 200 {
		t.Errorf("got %v, %v", img.Bounds(), err)
	}
}

func TestBadInput(t *testing.T) {
	for name, tt := range map[string]struct {
		x    tenon.Value
		kind error
		word string
	}{
		"another dimension": {named.Ones(dtype.Float32, Batch{}.Of(2), City{}.Of(2), Year{}.Of(2)), tenon.ErrShape, "named.Index"},
		"a missing one":     {named.Ones(dtype.Float32, City{}.Of(2)), tenon.ErrNotFound, "Year"},
		"no elements":       {named.Ones(dtype.Float32, City{}.Of(0), Year{}.Of(2)), tenon.ErrShape, "0 elements"},
		"texts":             {named.Of([][]string{{"a"}}, City{}, Year{}), tenon.ErrDType, "not numbers"},
	} {
		_, err := plot.NewHeatMap(tt.x, City{}, Year{}, plot.Options{})
		if !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.word) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	m, err := plot.NewHeatMap(rain(), City{}, Year{}, plot.Options{Width: -3})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.WriteSVG(io.Discard); !errors.Is(err, tenon.ErrInvalid) {
		t.Errorf("got %v", err)
	}
	flat, err := plot.NewHeatMap(named.Full(math.NaN(), City{}.Of(2), Year{}.Of(2)), City{}, Year{}, plot.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := flat.WritePNG(io.Discard); err != nil {
		t.Error(err)
	}
}
