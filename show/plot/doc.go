// Package plot draws a heat map of a matrix with named axes, and with the
// labels of coordinates if there are any, as SVG, as PNG, or as text in a terminal.
//
//	m, err := plot.NewHeatMap(weights, Seq{}, KeySeq{}, plot.Options{Title: "attention"})
//	fmt.Println(m)             // in a terminal
//	err = m.WriteSVG(file)
//
// Slice a tensor with more dimensions first, with named.Index or coords.Select. For
// notebooks and web pages, package view draws any Value.
//
// Stability: experimental.
package plot
