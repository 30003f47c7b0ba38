// Package plot draws tensors: a heat map of a matrix whose axes are named, with the
// labels of coordinates where there are some, as SVG, as PNG, or as text in a terminal.
//
//	m, err := plot.NewHeatMap(weights, Seq{}, KeySeq{}, plot.Options{Title: "attention"})
//	fmt.Println(m)             // in a terminal
//	err = m.WriteSVG(file)
//
// A tensor with more dimensions is sliced first, by named.Index or coords.Select. For
// notebooks and web pages package view draws any Value.
//
// Stability: experimental.
package plot
