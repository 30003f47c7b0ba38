// Package labeled holds tensors whose axes have labels, texts that are known when a
// program runs. Axes are matched by label, not by position: addition aligns them,
// and a reduction names the one that goes away. The work is done by package named.
package labeled
