// Package view draws Values, graphs and training runs as HTML: for notebooks, reports, and the page of
// the command tenon view.
//
//	html := view.HTML(model, view.Options{})      // any nest of Values
//	svg := view.Graph(g)                          // operations from top to bottom
//	page := view.Page("my model", html)           // a file that needs no other
//
// A nest is a tree that folds. Of each Value its Spec and statistics are shown; numbers are heat maps with
// the names of their axes, and a slider for each axis beyond two; rows of different lengths are bars;
// what is missing is hatched; records are tables, nested where the records are. Curves of [Runs] are of
// the values measured and of their moving average.
//
// Everything that is shown is escaped, and nothing is fetched from elsewhere. Colours follow the reader's
// choice of light or dark. [NewServer] answers for files on this machine.
//
// # Glossary
//
//   - fragment: HTML that is a part of a page; its style is that of [Page]
//
// Stability: experimental.
package view
