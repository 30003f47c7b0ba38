package view_test

import (
	"fmt"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"

	"github.com/tenonml/tenon/control"
	"github.com/tenonml/tenon/function"
	"github.com/tenonml/tenon/graph"
	"github.com/tenonml/tenon/internal/browser"
	"github.com/tenonml/tenon/ops"
	"github.com/tenonml/tenon/show/view"
	"github.com/tenonml/tenon/tensor"
)

// looped is the graph of a function with a loop, and with more behind it.
func looped(t *testing.T) *graph.Graph {
	t.Helper()
	f := function.New(func(x, n tensor.Tensor) tensor.Tensor {
		k := control.While(func(i tensor.Tensor) tensor.Tensor { return ops.Less(i, n) }, func(i tensor.Tensor) tensor.Tensor { return ops.Add(i, int64(1)) }, ops.ZerosLike(n))
		return ops.Tanh(ops.Mul(x, ops.Cast(k, x.DType())))
	}, function.Options{Name: "looped"})
	g, err := f.Trace(tensor.Of([]float32{1, 2}), tensor.Scalar(int64(3)))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// A page is used with keys and a pointer: parts fold, sliders move, graphs fold, and what changes is
// drawn anew.
func TestPageIsUsed(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts browsers")
	}
	var version atomic.Int64
	s := view.NewServer("pages", []view.Item{
		{Name: "values", Draw: func(url.Values) (string, error) {
			x := map[string]any{"a": ops.Reshape(ops.Range(0.0, 24, 1), []int{2, 3, 4}), "b": []tensor.Tensor{tensor.Of([]int64{7}), tensor.Of([]int64{8})}}
			return view.HTML(x, view.Options{Name: "nest"}), nil
		}},
		{Name: "graph", Draw: func(url.Values) (string, error) { return view.Graph(looped(t), view.GraphOptions{}), nil }},
		{
			Name: "live",
			Draw: func(url.Values) (string, error) {
				return fmt.Sprintf("<p id=\"n\">version %d</p>", version.Load()), nil
			},
			Stamp: func() string { return fmt.Sprint(version.Load()) },
		},
	})
	server := httptest.NewServer(s)
	t.Cleanup(server.Close) // behind the browsers, one of which listens
	base := s.URL(server.Listener.Addr())
	want := func(tab *browser.Tab, expression string, want any) {
		t.Helper()
		if got := tab.Eval(expression); got != want {
			t.Errorf("%s is %v, want %v", expression, got, want)
		}
	}

	tab := browser.Open(t, base+"0/", "900,640", false)
	want(tab, `document.querySelector("details").open`, true)
	tab.Click("summary")
	want(tab, `document.querySelector("details").open`, false)
	tab.Press("Enter") // the summary has the focus
	want(tab, `document.querySelector("details").open`, true)
	tab.Press("Tab")
	tab.Press("Tab") // the summary of a, and the slider behind it
	want(tab, `document.activeElement.ariaLabel`, "axis 0")
	want(tab, `document.querySelectorAll(".heat img:not([hidden])").length`, 1.0)
	tab.Press("ArrowRight")
	want(tab, `[...document.querySelectorAll(".heat img")].map(i => i.hidden).join()`, "true,false")
	want(tab, `document.querySelector(".heat output").textContent`, "1")

	tab = browser.Open(t, base+"1/", "900,640", false)
	const head, height = `document.querySelector("[aria-expanded]")`, `document.querySelector("svg").clientHeight`
	open, _ := tab.Eval(height).(float64)
	want(tab, head+`.getAttribute("aria-expanded")`, "true")
	tab.Click("[aria-expanded] text")
	want(tab, head+`.getAttribute("aria-expanded")`, "false")
	want(tab, head+`.textContent.includes("▸ control.while")`, true)
	if closed, _ := tab.Eval(height).(float64); closed >= open || closed < 100 {
		t.Errorf("the graph is %v high, and %v folded", open, closed)
	}
	want(tab, `document.querySelector(".about").textContent.startsWith("control.while: int64[]")`, true)
	tab.Press("Space")
	want(tab, height, open)
	// Nothing lies over anything else, folded or not.
	const overlaps = `(() => {
		const rects = [...document.querySelectorAll("svg > .layer > .box > .head > rect")].map(r => r.getBoundingClientRect());
		return rects.some((a, i) => rects.some((b, j) => i < j && a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom));
	})()`
	want(tab, overlaps, false)
	tab.Press("Enter")
	want(tab, overlaps, false)

	tab = browser.Open(t, base+"2/", "900,640", true)
	want(tab, `document.getElementById("n").textContent`, "version 0")
	version.Add(1)
	tab.Wait(`document.getElementById("n").textContent === "version 1"`)
}
