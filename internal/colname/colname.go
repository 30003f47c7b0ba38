package colname

import "strconv"

// Unique returns the names of columns as fields can have them: a name that was there before
// gets _1, _2, …, the first that is neither taken nor the name of another column. It
// returns the slice itself where there is nothing to change.
func Unique(names []string) []string {
	given := make(map[string]bool, len(names))
	twice := false
	for _, n := range names {
		twice = twice || given[n]
		given[n] = true
	}
	if !twice {
		return names
	}
	out, taken := make([]string, len(names)), make(map[string]bool, len(names))
	next := map[string]int{} // the number to try first
	for i, n := range names {
		name := n
		for taken[name] || name != n && given[name] {
			next[n]++
			name = n + "_" + strconv.Itoa(next[n])
		}
		out[i], taken[name] = name, true
	}
	return out
}

// Filled is [Unique] with columnN, N being its position, for a name that is empty.
func Filled(names []string) []string {
	filled := make([]string, len(names))
	for i, n := range names {
		if filled[i] = n; n == "" {
			filled[i] = "column" + strconv.Itoa(i)
		}
	}
	return Unique(filled)
}
