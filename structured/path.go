package structured

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/structured/internal/jsonpath"
)

// PathString returns the text of a path of field names: names separated by dots,
// quoted if they are not identifiers.
func PathString(path []string) string { return jsonpath.String(path) }

// ParsePath returns the names of a path that consists only of names. It is the inverse of
// [PathString]. Names in brackets, `["a b"]`, and a leading `$` are accepted too.
func ParsePath(text string) ([]string, error) {
	q, err := jsonpath.Parse(text)
	if err != nil {
		return nil, err
	}
	names, ok := q.Names()
	if !ok {
		return nil, jsonpath.Error(text, "must consist of names only")
	}
	return names, nil
}

// parsed returns the query for a path. It throws.
func parsed(path string) jsonpath.Query { return tenon.Must(jsonpath.Parse(path)) }
