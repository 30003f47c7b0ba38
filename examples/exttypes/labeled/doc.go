// Package labeled implements tensors with labelled axes. Labels are strings that are known only
// when a program runs. Axes are matched by label, not by position: addition aligns them, and a
// reduction names the axis that it removes. The implementation uses package named.
package labeled
