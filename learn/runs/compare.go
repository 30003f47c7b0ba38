package runs

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// A Difference is a setting in which runs differ.
type Difference struct {
	Path   string   // such as settings.optimizer.Momentum
	Values []string // of each run, as JSON; empty if it is not set
}

// Differences returns the settings in which runs differ, by path: those in [Info].Settings, the
// seed, the commit, the number of parameters and the command line.
func Differences(list ...*Run) []Difference {
	all := make([]map[string]string, len(list))
	paths := map[string]bool{}
	for i, r := range list {
		all[i] = map[string]string{}
		flatten(all[i], "", map[string]any{
			"settings": generic(r.Settings), "seed": r.Seed, "commit": r.Commit, "dirty": r.Dirty, "parameters": r.Parameters, "args": generic(r.Args),
		})
		for p := range all[i] {
			paths[p] = true
		}
	}
	var out []Difference
	for _, p := range sortedKeys(paths) {
		d := Difference{Path: p}
		differs := false
		for i := range all {
			d.Values = append(d.Values, all[i][p])
			differs = differs || all[i][p] != all[0][p]
		}
		if differs {
			out = append(out, d)
		}
	}
	return out
}

// generic returns v, encoded as JSON and decoded again, as maps, lists, strings and numbers.
func generic(v any) any {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	var out any
	if err := json.Unmarshal(b, &out); err != nil {
		return string(b)
	}
	return out
}

func flatten(out map[string]string, path string, v any) {
	below := func(name string) string {
		if path == "" {
			return name
		}
		return path + "." + name
	}
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			flatten(out, below(k), x)
		}
	case []any:
		for i, x := range v {
			flatten(out, below(strconv.Itoa(i)), x)
		}
	case nil:
	default:
		b, err := json.Marshal(v)
		if err != nil {
			b = []byte(fmt.Sprint(v))
		}
		out[path] = string(b)
	}
}
