package dimtext

import (
	"fmt"
	"slices"
	"strings"
)

// Sizes that are not numbers.
const (
	Open   = -1 // not known yet, printed as "?"
	Ragged = -2 // rows of different lengths, printed as "~"
	Absent = -3 // unknown to the caller: only the name is printed
)

// A Dim is a dimension of an operand.
type Dim struct {
	Name string
	Size int
}

// String prints "Batch:8", "Batch:?", "Token~" or "Batch".
func (d Dim) String() string {
	switch d.Size {
	case Open:
		return d.Name + ":?"
	case Ragged:
		return d.Name + "~"
	case Absent:
		return d.Name
	}
	return fmt.Sprintf("%s:%d", d.Name, d.Size)
}

// An Operand is a tensor that takes part in an operation.
type Operand struct {
	Role string // "left", "right", "tensor", "operand 2"
	Dims []Dim
	From string // where it comes from, or ""
}

// Braces prints dimensions as "{Batch:8 Seq:4}".
func Braces(dims []Dim) string {
	s := make([]string, len(dims))
	for i, d := range dims {
		s[i] = d.String()
	}
	return "{" + strings.Join(s, " ") + "}"
}

// Lines prints a line for each operand: its role, its dimensions and its origin.
func Lines(operands ...Operand) string {
	roles, sets := 0, 0
	for _, o := range operands {
		roles, sets = max(roles, len(o.Role)), max(sets, len(Braces(o.Dims)))
	}
	lines := make([]string, len(operands))
	for i, o := range operands {
		lines[i] = fmt.Sprintf("  %-*s  %-*s", roles, o.Role, sets, Braces(o.Dims))
		if o.From != "" {
			lines[i] += "  from " + o.From
		}
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

func (o Operand) find(name string) (Dim, bool) {
	for _, d := range o.Dims {
		if d.Name == name {
			return d, true
		}
	}
	return Dim{}, false
}

// subject returns the name of an operand in a sentence.
func (o Operand) subject() string {
	switch o.Role {
	case "left", "right":
		return o.Role + " operand"
	}
	return "the " + o.Role
}

// Missing reports that an operand lacks a dimension.
func Missing(name string, at int, operands ...Operand) (msg, hint string) {
	o := operands[at]
	msg = fmt.Sprintf("%s has no %s\n%s", o.subject(), name, Lines(operands...))
	for _, d := range o.Dims {
		if d.Name != name && Short(d.Name) == Short(name) {
			return msg, fmt.Sprintf("%s and %s are two names that are spelled alike: use one of them, or named.Rename", name, d.Name)
		}
	}
	if len(operands) == 1 {
		return msg, similar(name, o)
	}
	hint = "shared: none."
	if s := shared(operands); len(s) > 0 {
		hint = "shared: " + strings.Join(s, ", ") + "."
	}
	for i, other := range operands {
		d, ok := other.find(name)
		if i == at || !ok || d.Size < 0 {
			continue
		}
		for _, c := range o.Dims {
			if _, both := other.find(c.Name); c.Size == d.Size && !both {
				return msg, fmt.Sprintf("%s %s has the same size as %s: did you mean named.Rename[%s, %s](%s)?", hint, c.Name, name, c.Name, name, o.Role)
			}
		}
	}
	if s := similar(name, o); s != "" {
		hint += " " + s
	}
	return msg, hint
}

// Alone reports that a contraction of several operands sums over a dimension that only one of them
// has.
func Alone(name string, at int, operands ...Operand) (msg, hint string) {
	o := operands[at]
	msg = fmt.Sprintf("%s is summed over, and only %s has it\n%s", name, o.subject(), Lines(operands...))
	d, _ := o.find(name)
	for i, other := range operands {
		for _, c := range other.Dims {
			if _, both := o.find(c.Name); i != at && !both && c.Size == d.Size && c.Size >= 0 {
				hint = fmt.Sprintf("%s has the same size as %s: did you mean named.Rename[%s, %s](%s)? ", c.Name, name, c.Name, name, other.Role)
			}
		}
	}
	return msg, hint + fmt.Sprintf("to sum what one operand has alone, use named.Sum[%s](%s)", name, o.Role)
}

// Unscaled reports that the scale or offset of a normalisation, the second operand, lacks
// normalised dimensions.
func Unscaled(fn string, lacks []string, operands ...Operand) (msg, hint string) {
	x, p := operands[0], operands[1]
	names := make([]string, len(p.Dims))
	for i, d := range p.Dims {
		names[i] = d.Name
	}
	msg = fmt.Sprintf("%s is normalised, and %s has {%s}\n%s", strings.Join(lacks, ", "), p.subject(), strings.Join(names, " "), Lines(operands...))
	if _, ok := x.find(names[0]); ok && len(names) == 1 {
		hint = fmt.Sprintf("did you mean %s[%s]? ", fn, names[0])
	}
	how := "named.Mul"
	if p.Role == "offset" {
		how = "named.Add"
	}
	return msg, hint + fmt.Sprintf("to use the %s along other dimensions, leave it out and take %s of the result", p.Role, how)
}

// Short returns the part of a full name after the package.
func Short(name string) string {
	rest := name[strings.LastIndexByte(name, '/')+1:]
	if _, after, ok := strings.Cut(rest, "."); ok {
		rest = after
	}
	rest, _, _ = strings.Cut(rest, "#")
	return rest
}

// shared returns the names that all operands have.
func shared(operands []Operand) []string {
	var out []string
	for _, d := range operands[0].Dims {
		if !slices.ContainsFunc(operands[1:], func(o Operand) bool { _, ok := o.find(d.Name); return !ok }) {
			out = append(out, d.Name)
		}
	}
	return out
}

// similar suggests a name whose spelling is similar to a missing one.
func similar(name string, o Operand) string {
	best, at := 3, -1
	for i, d := range o.Dims {
		if n := distance(strings.ToLower(name), strings.ToLower(d.Name)); n < best && n < len(name)-1 {
			best, at = n, i
		}
	}
	if at < 0 {
		return ""
	}
	return "did you mean " + o.Dims[at].Name + "?"
}

// Similar reports whether two names differ by no more than a typo.
func Similar(a, b string) bool {
	n := distance(strings.ToLower(a), strings.ToLower(b))
	return n > 0 && n < 3 && n < len(a)-1
}

// distance returns the number of letters to insert, delete or replace (the Levenshtein distance).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

// Shared reports that operands of a strict contraction have a further dimension in common.
func Shared(name string, operands ...Operand) (msg, hint string) {
	msg = fmt.Sprintf("both operands also have %s\n%s", name, Lines(operands...))
	return msg, fmt.Sprintf("rename one, contract it too, take it as a batch with named.Contract, or lift the function over it with named.Lift[%s]", name)
}

// SizesDiffer reports that a dimension has two sizes.
func SizesDiffer(name string, operands ...Operand) (msg, hint string) {
	var sizes []string
	for _, o := range operands {
		if d, ok := o.find(name); ok {
			if s := fmt.Sprint(d.Size); !slices.Contains(sizes, s) {
				sizes = append(sizes, s)
			}
		}
	}
	return fmt.Sprintf("%s has the sizes %s\n%s", name, strings.Join(sizes, " and "), Lines(operands...)), ""
}

// NoSubset reports that neither operand of an elementwise operation has all dimensions.
func NoSubset(operands ...Operand) (msg, hint string) {
	msg = "no operand has all names\n" + Lines(operands...)
	if len(operands) == 2 {
		a, b := missing(operands[0], operands[1]), missing(operands[1], operands[0])
		msg = fmt.Sprintf("neither operand has all names: left lacks %s, right lacks %s\n%s", Braces(bare(a)), Braces(bare(b)), Lines(operands...))
		for _, d := range a {
			for _, c := range b {
				if c.Size == d.Size && c.Size >= 0 && distance(strings.ToLower(c.Name), strings.ToLower(d.Name)) < 3 {
					return msg, fmt.Sprintf("%s and %s have the same size: did you mean named.Rename[%s, %s](right)?", c.Name, d.Name, d.Name, c.Name)
				}
			}
		}
	}
	return msg, "if all combinations are meant, use named.Outer, or named.BroadcastTo on one operand"
}

// missing returns the dimensions of o that a lacks.
func missing(a, o Operand) []Dim {
	var out []Dim
	for _, d := range o.Dims {
		if _, ok := a.find(d.Name); !ok {
			out = append(out, d)
		}
	}
	return out
}

func bare(dims []Dim) []Dim {
	out := slices.Clone(dims)
	for i := range out {
		out[i].Size = Absent
	}
	return out
}

// Taken reports that a tensor already has a dimension that is to be added.
func Taken(name string, operands ...Operand) (msg, hint string) {
	return fmt.Sprintf("%s already has %s\n%s", operands[0].subject(), name, Lines(operands...)), ""
}

// Schema reports that the dimensions of a tensor differ from those of a schema.
func Schema(want []Dim, operand Operand) (msg, hint string) {
	schema := Operand{Dims: want}
	lacks, extra := missing(operand, schema), missing(schema, operand)
	var parts []string
	if len(lacks) > 0 {
		parts = append(parts, "missing "+Braces(bare(lacks)))
	}
	if len(extra) > 0 {
		parts = append(parts, "extra "+Braces(bare(extra)))
	}
	msg = fmt.Sprintf("the schema is %s: %s\n%s", Braces(want), strings.Join(parts, ", "), Lines(operand))
	if len(lacks) == 1 && len(extra) == 1 {
		return msg, fmt.Sprintf("did you mean named.Rename[%s, %s](%s)?", extra[0].Name, lacks[0].Name, operand.Role)
	}
	if len(lacks) == 0 && len(extra) > 0 {
		return msg, fmt.Sprintf("if it is the function's caller that knows of %s, lift the function over it with named.Lift", Braces(bare(extra)))
	}
	return msg, ""
}

// Declared reports that the dimensions of a tensor differ from those that a field declares.
func Declared(want []Dim, operand Operand) (msg, hint string) {
	declared := Operand{Dims: want}
	lacks, extra := missing(operand, declared), missing(declared, operand)
	var parts []string
	if len(lacks) > 0 {
		parts = append(parts, "missing "+Braces(bare(lacks)))
	}
	if len(extra) > 0 {
		parts = append(parts, "extra "+Braces(bare(extra)))
	}
	msg = fmt.Sprintf("the field is declared with %s: %s\n%s", Braces(bare(want)), strings.Join(parts, ", "), Lines(operand))
	if len(lacks) == 1 && len(extra) == 1 {
		hint = fmt.Sprintf("did you mean named.Rename[%s, %s](%s)?", extra[0].Name, lacks[0].Name, operand.Role)
	}
	return msg, hint
}

// Twice reports that a name is listed twice.
func Twice(name string, list []string) (msg, hint string) {
	return fmt.Sprintf("%s occurs twice in {%s}", name, strings.Join(list, " ")), ""
}

// OutOfBounds reports that a position is out of bounds for a dimension.
func OutOfBounds(name string, position int, operand Operand) (msg, hint string) {
	d, _ := operand.find(name)
	return fmt.Sprintf("position %d is out of bounds: %s has the size %d\n%s", position, name, d.Size, Lines(operand)), ""
}

// TooMany reports that a dimension has fewer elements than requested.
func TooMany(name string, k int, operand Operand) (msg, hint string) {
	d, _ := operand.find(name)
	return fmt.Sprintf("k is %d, and %s has the size %d\n%s", k, name, d.Size, Lines(operand)), ""
}
