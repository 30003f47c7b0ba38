// Package view draws Values, graphs and training runs as HTML, for notebooks, reports, and the pages of
// the command tenon view.
//
//	html := view.HTML(model, view.Options{})      // any nest of Values
//	svg := view.Graph(g)                          // operations from top to bottom
//	page := view.Page("my model", html)           // a file that needs no other
//
// A nest is drawn as a tree that folds. For each Value, it shows the Spec and statistics. Numbers are drawn as heat maps with
// named axes and a slider for each axis beyond two, rows of different lengths as bars,
// missing values hatched, and records as tables, nested like the records. [Runs] draws curves of
// the measured values and of their moving averages.
//
// All content is escaped, and pages make no requests to other sites. Colours follow the reader's
// choice of light or dark. [NewServer] serves files of the local machine.
//
// # Glossary
//
//   - fragment: HTML that is part of a page and uses the style of [Page]
//
// Stability: experimental.
package view
