// Package labeled implements tensors with labelled axes. Labels are strings known when a
// program runs. Axes are matched by label, not by position: addition aligns them,
// and a reduction names the axis it removes. Package named does the work.
package labeled
