package view_test

import (
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"math"
	"net"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/data/jsonl"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/learn/runs"
	"github.com/tenonml/tenon/masked"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/ragged"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/show/view"
	"github.com/tenonml/tenon/sparse"
	"github.com/tenonml/tenon/structured"
	"github.com/tenonml/tenon/tensor"
)

func ExampleHTML() {
	type model struct {
		Weights tensor.Tensor
		Name    tensor.Tensor
	}
	html := view.HTML(model{tensor.Of([]float32{1, 2, 3, 4}, 2, 2), tensor.Of([]string{"<b>"})}, view.Options{Name: "model"})
	fmt.Println(strings.Contains(html, "float32[2, 2]"), strings.Contains(html, "from 1 to 4, mean 2.5"), strings.Contains(html, "<b>&lt;b&gt;"))
	fmt.Println(strings.HasPrefix(view.Page("a page", html), "<!doctype html>"))
	// Output:
	// true true false
	// true
}

func ExampleGraph() {
	f := function.New(func(x tensor.Tensor) tensor.Tensor { return ops.Tanh(ops.Mul(x, x)) }, function.Options{})
	g, err := f.Trace(tensor.Of([]float32{1, 2}))
	if err != nil {
		panic(err)
	}
	svg := view.Graph(g, view.GraphOptions{})
	fmt.Println(strings.Count(svg, `class="node"`), "operations,", strings.Count(svg, "<path"), "edges")
	fmt.Println(strings.HasPrefix(view.GraphFile(g, view.GraphOptions{Folded: true}), "<svg"))
	// Output:
	// 2 operations, 3 edges
	// true
}

// wellFormed fails where elements or attributes are not closed, and returns the texts.
func wellFormed(t *testing.T, fragment string) (texts []string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(fragment))
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			return texts
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, fragment)
		}
		switch tok := tok.(type) {
		case xml.CharData:
			if text := strings.TrimSpace(string(tok)); text != "" {
				texts = append(texts, text)
			}
		case xml.StartElement:
			switch tok.Name.Local {
			case "script", "iframe", "object", "b0", "link":
				t.Errorf("there is an element %s", tok.Name.Local)
			}
			for _, a := range tok.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "style" || strings.HasPrefix(a.Value, "javascript:") {
					t.Errorf("there is an attribute %s=%q", a.Name.Local, a.Value)
				}
			}
		}
	}
}

type (
	// Seq is a dimension.
	Seq struct{ named.Dim[Seq] }
	// Rep is a dimension.
	Rep struct{ named.Dim[Rep] }
)

// evil is a text that would do something where it is not escaped.
const evil = `</td><script>alert(1)</script><b0 onclick="x" title='` + "\u202e\x00"

func records(t *testing.T, text string) tenon.Value {
	t.Helper()
	v, err := jsonl.Read(jsonl.Bytes([]byte(text)), jsonl.Options{Format: jsonl.Auto, Missing: structured.MissingMasked, Unions: true})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Each type of Value is drawn, with what is in it, and nothing of it is taken for HTML.
func TestValues(t *testing.T) {
	type layer struct {
		W, B tensor.Tensor
	}
	inf := math.Inf(-1)
	mask := tensor.Of([]bool{true, false, true, true, false, true}, 2, 3)
	key := strings.ReplaceAll(strings.ReplaceAll(evil, "\x00", ""), `"`, `\"`)
	for name, tt := range map[string]struct {
		x    any
		want []string
	}{
		"scalar":       {tensor.Scalar(2.5), []string{"float64[]", "2.5"}},
		"list":         {tensor.Of([]int64{7, 8}), []string{"int64[2]", "7", "8", "2 values, from 7 to 8, mean 7.5, standard deviation 0.5"}},
		"empty":        {tensor.Of([]float32{}, 0, 3), []string{"float32[0, 3]"}},
		"NaN":          {tensor.Of([]float64{1, math.NaN(), inf, 3}), []string{"NaN", "-Infinity"}},
		"matrix":       {tensor.Of([]float32{1, 2, 3, math.MaxFloat32, 5, 6}, 2, 3), []string{"axis 0 ↓  axis 1 →   1 … 3.40282e+38"}},
		"all NaN":      {tensor.Of([]float64{math.NaN(), math.NaN()}, 1, 2), []string{"2 values, 2 NaN"}},
		"infinite":     {tensor.Of([]float64{inf, inf}, 1, 2), []string{"float64[1, 2]"}},
		"four axes":    {tensor.Of(make([]uint8, 2*3*4*5), 2, 3, 4, 5), []string{"of 2", "of 3"}},
		"large":        {ops.Fill([]int64{1000, 1300}, 1.5), []string{"1300000 values, from 1.5 to 1.5, mean 1.5, standard deviation 0", "rows 0 to 99 of 1000"}},
		"bool":         {tensor.Of([]bool{true, false}), []string{"true", "false"}},
		"complex":      {tensor.Of([]complex64{1 + 2i}), []string{"complex64[1]"}},
		"bfloat16":     {ops.Cast(tensor.Of([]float32{1.5}), dtype.BFloat16), []string{"1.5"}},
		"texts":        {tensor.Of([]string{evil, "größe", "\xff"}), []string{"größe", "3 values, bytes from 1 to"}},
		"ragged":       {ragged.FromSlices([][]string{{"a", evil}, {}, {"c"}}), []string{"level 0: 3 lists, the longest of those shown has 2 elements", "a", "c"}},
		"masked":       {tenon.Must(masked.New(tensor.Of([]float32{1, 2, 3, 4, 5, 6}, 2, 3), mask)), []string{"2 of 6 missing (hatched)", "missing", "6.0"}},
		"named":        {named.Of([][]float64{{1, 2}, {3, 4}}, Seq{}, Rep{}), []string{"Seq ↓  Rep →   1 … 4"}},
		"named list":   {named.Of([]float64{1, 2}, Seq{}), []string{"dimensions Seq"}},
		"named ragged": {named.Of(ragged.FromSlices([][]float64{{1}, {}}), Seq{}, Rep{}), []string{"dimensions Seq, Rep"}},
		"sparse":       {tenon.Must(sparse.FromDense(tensor.Of([]float32{0, 2, 0, 0}, 2, 2))), []string{"2.0"}},
		"records":      {records(t, `{"id":1,"name":"x","jets":[{"pt":3.5},{"pt":7.25}]}`+"\n"+`{"id":2,"name":"`+key+`","jets":[],"met":2.5}`), []string{"id", "pt", "7.25", "2.5", "jets.pt"}},
		"a field":      {records(t, `{"`+key+`":{"`+key+`":[1,null]}}`), []string{"missing"}},
		"unions":       {records(t, `{"a":1}`+"\n"+`{"a":"x"}`+"\n"+`{"a":[true]}`), []string{"x", "true"}},
		"nest":         {map[string]any{evil: []layer{{tensor.Of([]float32{1}), nil}}, "n": 3}, []string{"2 parts", "float32[1]"}},
		"no nest":      {make(chan int), nil},
		"nothing":      {nil, nil},
		"spec only":    {tensor.NewSpec(dtype.Int8, shape.Of(2)), nil},
	} {
		t.Run(name, func(t *testing.T) {
			html := view.HTML(tt.x, view.Options{Name: evil})
			texts := strings.Join(wellFormed(t, html), "\n")
			for _, want := range tt.want {
				if !strings.Contains(texts, want) {
					t.Errorf("the page lacks %q:\n%s", want, texts)
				}
			}
			if tt.want != nil && strings.Contains(html, `class="bad"`) {
				t.Errorf("got %s", texts)
			}
			if strings.ContainsAny(html, "\x00\u202e") {
				t.Error("what turns the direction of text is not shown")
			}
		})
	}
}

// A symbolic tensor has no elements to show.
func TestSymbolicValues(t *testing.T) {
	f := function.New(func(x tensor.Tensor) tensor.Tensor {
		if html := view.HTML(x, view.Options{}); !strings.Contains(html, "without elements yet") {
			t.Errorf("got %s", html)
		}
		return x
	}, function.Options{})
	if _, err := f.Trace(tensor.Of([]float32{1, 2})); err != nil {
		t.Fatal(err)
	}
}

func TestRowsAreChosen(t *testing.T) {
	html := view.HTML(ops.Range(0, 1000, 1), view.Options{From: 500, Rows: 2})
	texts := strings.Join(wellFormed(t, html), " ")
	if !strings.Contains(texts, "500 500 501 501 rows 500 to 501 of 1000") {
		t.Errorf("got %s", texts)
	}
}

// Operations, parameters and results are drawn, those of loops within them.
func TestGraphs(t *testing.T) {
	f := function.New(func(x, n tensor.Tensor) tensor.Tensor {
		k := control.While(func(i tensor.Tensor) tensor.Tensor { return ops.Less(i, n) }, func(i tensor.Tensor) tensor.Tensor { return ops.Add(i, int64(1)) }, ops.ZerosLike(n))
		return ops.Mul(x, ops.Cast(k, x.DType()))
	}, function.Options{Name: evil})
	g, err := f.Trace(tensor.Of([]float32{1, 2}), tensor.Scalar(int64(3)))
	if err != nil {
		t.Fatal(err)
	}
	for _, svg := range []string{view.Graph(g, view.GraphOptions{}), view.GraphFile(g, view.GraphOptions{})} {
		texts := strings.Join(wellFormed(t, svg), " ")
		for _, want := range []string{"control.while", "less", "parameter 1", "result 0", "float32[2]", "body"} {
			if !strings.Contains(texts, want) {
				t.Errorf("the drawing lacks %q: %s", want, texts)
			}
		}
	}
}

func TestRuns(t *testing.T) {
	long := &runs.Run{Info: runs.Info{Name: evil, Notes: evil, Settings: map[string]any{evil: 1}}}
	score := 0.5
	for i := range 5000 {
		e := runs.Event{Step: i + 1, Loss: 1 / float64(i+1), Values: map[string]float64{evil: float64(i)}, Elapsed: time.Duration(i) * time.Second}
		if i == 7 {
			e.Loss, e.Score = math.NaN(), &score
		}
		long.Events = append(long.Events, e)
	}
	for name, list := range map[string][]*runs.Run{"none": nil, "empty": {{}}, "long": {long, {Info: runs.Info{Name: "b"}, Events: long.Events[:1]}}, "no number": {{Events: []runs.Event{{Step: 1, Loss: math.NaN()}}}}} {
		for _, o := range []view.RunOptions{{}, {Smooth: 0.9, Log: true, Time: true}, {Smooth: math.NaN()}, {Smooth: 2}} {
			html := view.Runs(list, o)
			texts := wellFormed(t, html)
			if name == "long" && (len(html) > 300_000 || !strings.Contains(strings.Join(texts, " "), "0.5 at step 8")) {
				t.Errorf("%d bytes: %.500s", len(html), texts)
			}
		}
	}
}

func get(t *testing.T, s *view.Server, method, path, host string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, "http://x"+path, nil)
	r.Host = host
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// The server answers to who knows the secret, by a name of this machine.
func TestServer(t *testing.T) {
	s := view.NewServer("files", []view.Item{
		{Name: evil, Items: []view.Item{{Name: "inner", Note: "float32[2]", Draw: func(q url.Values) (string, error) { return "<p>from " + q.Get("from") + "</p>", nil }}}},
		{Name: "broken", Draw: func(url.Values) (string, error) { return "", errors.New(evil) }},
	})
	address := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80}
	u, err := url.Parse(s.URL(address))
	if err != nil || len(u.Path) < 20 {
		t.Fatalf("the address is %v, %v", u, err)
	}
	for _, tt := range []struct {
		method, path, host string
		code               int
		want               string
	}{
		{"GET", u.Path, "127.0.0.1:80", 200, "&lt;/td&gt;&lt;script&gt;"},
		{"GET", u.Path, "localhost:80", 200, "broken"},
		{"GET", u.Path, "[::1]:80", 200, "broken"},
		{"GET", u.Path + "0/0/?from=7", "localhost", 200, "<p>from 7</p>"},
		{"GET", u.Path + "0/0", "localhost", 301, ""},
		{"GET", u.Path + "1/", "localhost", 200, `class="bad"`},
		{"GET", u.Path + "2/", "localhost", 404, ""},
		{"GET", u.Path + "-1/", "localhost", 404, ""},
		{"GET", u.Path + "0/x/", "localhost", 404, ""},
		{"GET", u.Path + "live/1/", "localhost", 404, ""},
		{"GET", "/", "localhost", 404, ""},
		{"GET", u.Path[:len(u.Path)-2] + "/", "localhost", 404, ""},
		{"GET", u.Path, "example.com", 403, ""},
		{"GET", u.Path, "127.0.0.1.example.com", 403, ""},
		{"POST", u.Path, "localhost", 405, ""},
	} {
		w := get(t, s, tt.method, tt.path, tt.host)
		if w.Code != tt.code || !strings.Contains(w.Body.String(), tt.want) || strings.Contains(w.Body.String(), "<script>alert") {
			t.Errorf("%s %s of %s: %d %.2000s", tt.method, tt.path, tt.host, w.Code, w.Body)
		}
		if policy := w.Header().Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") || w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("the headers are %v", w.Header())
		}
	}
}

// Who looks at what changes is told.
func TestLive(t *testing.T) {
	var stamp atomic.Value
	stamp.Store("a & b")
	s := view.NewServer("live", []view.Item{{Name: "x", Draw: func(url.Values) (string, error) { return "<p>x</p>", nil }, Stamp: func() string {
		return stamp.Load().(string)
	}}})
	server := httptest.NewServer(s)
	defer server.Close()
	page, err := server.Client().Get(s.URL(server.Listener.Addr()) + "0/")
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(page.Body)
	live := regexp.MustCompile(`data-live="(/[^"]*)"`).FindSubmatch(b)
	if err = errors.Join(err, page.Body.Close()); err != nil || live == nil {
		t.Fatalf("%v %s", err, b)
	}
	stamp.Store("c") // before the page listens
	answer, err := server.Client().Get(server.URL + html.UnescapeString(string(live[1])))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	for _, want := range []string{"data: 1", "data: 2"} {
		for lines.Scan() && !strings.HasPrefix(lines.Text(), "data:") {
		}
		if lines.Text() != want || answer.Header.Get("Content-Type") != "text/event-stream" {
			t.Errorf("got %q, %v; want %q", lines.Text(), lines.Err(), want)
		}
		stamp.Store("d")
	}
}
