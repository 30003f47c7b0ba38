package structured

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/structured/internal/jsonpath"
)

// PathString returns the text of a path of field names: names with dots between
// them, quoted where they are no identifiers.
func PathString(path []string) string { return jsonpath.String(path) }

// ParsePath returns the names of a path that consists of names only: the reverse of
// [PathString]. Names in brackets, `["a b"]`, and the `$` in front are read too.
func ParsePath(text string) ([]string, error) {
	q, err := jsonpath.Parse(text)
	if err != nil {
		return nil, err
	}
	names, ok := q.Names()
	if !ok {
		return nil, jsonpath.Error(text, "has to consist of names only")
	}
	return names, nil
}

// parsed returns the query of a path; it throws.
func parsed(path string) jsonpath.Query { return tenon.Must(jsonpath.Parse(path)) }
