package colname

import "strconv"

// Unique returns the names of columns as unique field names: a repeated name gets the first
// suffix _1, _2, … that makes it different from all other names. It returns the slice
// itself if there is nothing to change.
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
	next := map[string]int{} // next suffix to try
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

// Filled is [Unique], but first replaces empty names by columnN, where N is the position of the
// column.
func Filled(names []string) []string {
	filled := make([]string, len(names))
	for i, n := range names {
		if filled[i] = n; n == "" {
			filled[i] = "column" + strconv.Itoa(i)
		}
	}
	return Unique(filled)
}
