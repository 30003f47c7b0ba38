package view_test

import (
	"fmt"
	"strings"

	"github.com/tenonml/tenon/learn/runs"
	"github.com/tenonml/tenon/show/view"
)

// The curves of a training run, smoothed, on an axis of powers of ten.
func ExampleRuns() {
	run := &runs.Run{Dir: "first"}
	for i := range 5 {
		run.Events = append(run.Events, runs.Event{Step: i + 1, Loss: 1 / float64(i+1)})
	}
	html := view.Runs([]*runs.Run{run}, view.RunOptions{Smooth: 0.5, Log: true})
	fmt.Println(strings.Contains(html, "<svg"), strings.Contains(html, "loss"))
	charts := view.Curves([]*runs.Run{run}, view.RunOptions{}) // without the table
	fmt.Println(strings.Count(charts, "<svg"), strings.Contains(charts, "<table"))
	// Output:
	// true true
	// 1 false
}
