package structured

import "strings"

// String prints the shape and the fields, each on a line of its own.
func (t *Tensor) String() string {
	var b strings.Builder
	b.WriteString("struct" + t.Shape().String() + " {\n")
	for _, c := range t.cols {
		text := "symbolic " + c.v.Shape().String()
		if s, ok := t.field(c).(interface{ String() string }); ok {
			text = strings.ReplaceAll(s.String(), "\n", "\n  ")
		}
		b.WriteString("  " + PathString([]string{c.name}) + ": " + text + "\n")
	}
	b.WriteString("}")
	return b.String()
}
