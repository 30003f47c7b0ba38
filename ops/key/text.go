package key

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/op"
)

// Keys are keys in the form of an operation's attribute. The values among them are arguments of the
// operation, to which the keys refer by number ([Operand]). In the text form, in which graphs are
// printed and stored, these are $0 as a bound and @1 as a tensor of positions.
type Keys []Key

// An Operand stands for a value in [Keys]. It is the value's number among the call's operands.
type Operand int

// Split returns keys as an attribute, and the values among them.
func Split(keys []Key) (Keys, []tenon.Value) {
	var values []tenon.Value
	var out Keys
	number := func(i int, bound *any, v tenon.Value) {
		if out == nil {
			out = slices.Clone(keys)
		}
		values = append(values, v)
		*at(&out[i], bound, &keys[i]) = Operand(len(values) - 1)
	}
	for i := range keys {
		k := &keys[i]
		for _, b := range []*any{&k.Start, &k.Stop, &k.Step} {
			if v, ok := (*b).(tenon.Value); ok {
				number(i, b, v)
			}
		}
		if k.Kind == ByKind {
			number(i, &k.Start, k.Value)
			out[i].Value = nil
		}
	}
	if out == nil {
		out = keys
	}
	return out, values
}

// at returns the bound of k that corresponds to b, a bound of from.
func at(k *Key, b *any, from *Key) *any {
	switch b {
	case &from.Stop:
		return &k.Stop
	case &from.Step:
		return &k.Step
	}
	return &k.Start
}

// With returns the keys with numbers replaced by the values they refer to.
func (ks Keys) With(values []tenon.Value) ([]Key, error) {
	out := []Key(ks)
	for i := range ks {
		k := ks[i]
		found := false
		for _, b := range []*any{&k.Start, &k.Stop, &k.Step} {
			n, ok := (*b).(Operand)
			if !ok {
				continue
			}
			if n < 0 || int(n) >= len(values) || values[n] == nil {
				return nil, bad(ks.String())
			}
			*b, found = values[n], true
		}
		if k.Kind == ByKind {
			k.Value, _ = k.Start.(tenon.Value)
			k.Start = nil
			if k.Value == nil {
				return nil, bad(ks.String())
			}
		}
		if found {
			if &out[0] == &ks[0] {
				out = slices.Clone(out)
			}
			out[i] = k
		}
	}
	return out, nil
}

// Of returns the keys of a call, argument i. The values that they refer to are argument i+1.
func Of(c *op.Call, i int) ([]Key, error) {
	ks, _ := c.Args[i].(Keys)
	return ks.With(c.List(i + 1))
}

// EncodeAttr returns the text of the keys.
func (ks Keys) EncodeAttr() tenon.Encoding { return tenon.Str(ks.String()) }

// SameAttr reports whether a is the same keys: the kinds, numbers and names are equal, and neither
// holds values.
func (ks Keys) SameAttr(a any) bool {
	other, ok := a.(Keys)
	return ok && slices.EqualFunc(ks, other, func(k, o Key) bool {
		return k.Kind == o.Kind && k.Name == o.Name && k.Value == nil && o.Value == nil &&
			same(k.Start, o.Start) && same(k.Stop, o.Stop) && same(k.Step, o.Step)
	})
}

// same reports whether two bounds are equal and not values.
func same(a, b any) bool {
	switch a.(type) {
	case nil, int, int32, int64, Operand:
		return a == b
	}
	return false
}

// String returns the text of the keys: `1:, -1, $0, ...`.
func (ks Keys) String() string {
	var b strings.Builder
	write := func(bound any) {
		switch x := bound.(type) {
		case nil:
		case Operand:
			fmt.Fprintf(&b, "$%d", int(x))
		default:
			fmt.Fprint(&b, x)
		}
	}
	for i, k := range ks {
		if i > 0 {
			b.WriteString(", ")
		}
		switch k.Kind {
		case AtKind:
			write(k.Start)
		case RangeKind:
			write(k.Start)
			b.WriteByte(':')
			write(k.Stop)
			if k.Step != nil {
				b.WriteByte(':')
				write(k.Step)
			}
		case EllipsisKind:
			b.WriteString("...")
		case NewAxisKind:
			b.WriteString("newaxis")
		case FieldKind:
			b.WriteString(strconv.Quote(k.Name))
		case ByKind:
			fmt.Fprintf(&b, "@%d", k.Start)
		}
	}
	return b.String()
}

// Convert makes [Keys] from what a call has as its keys: Keys, a []Key without values, or text.
func Convert(a any) (any, bool) {
	switch a := a.(type) {
	case Keys:
		return a, true
	case []Key:
		ks, values := Split(a)
		return ks, len(values) == 0
	case string:
		ks, err := Parse(a)
		return ks, err == nil
	}
	return nil, false
}

// Parse reads the text that [Keys.String] returns.
func Parse(text string) (Keys, error) {
	keys := Keys{}
	for rest := strings.TrimSpace(text); rest != ""; {
		part, after, err := next(rest)
		if err != nil {
			return nil, bad(text)
		}
		k, err := parseOne(part)
		if err != nil {
			return nil, bad(text)
		}
		keys = append(keys, k)
		rest = after
	}
	return keys, nil
}

func bad(text string) error {
	return &tenon.Error{Kind: tenon.ErrInvalid, Op: "key.Parse", Msg: fmt.Sprintf("%q is not a list of keys such as `1:, -1, ...`", text)}
}

// next cuts off the first key. A quoted name may contain a comma.
func next(text string) (part, rest string, err error) {
	if strings.HasPrefix(text, `"`) {
		if part, err = strconv.QuotedPrefix(text); err != nil {
			return "", "", err
		}
		rest = strings.TrimSpace(text[len(part):])
		if rest == "" {
			return part, "", nil
		}
		if rest[0] != ',' {
			return "", "", strconv.ErrSyntax
		}
		return part, strings.TrimSpace(rest[1:]), nil
	}
	part, rest, _ = strings.Cut(text, ",")
	return strings.TrimSpace(part), strings.TrimSpace(rest), nil
}

func parseOne(part string) (Key, error) {
	switch {
	case part == "...":
		return Ellipsis, nil
	case part == "newaxis":
		return NewAxis, nil
	case part == "":
		return Key{}, strconv.ErrSyntax
	case part[0] == '"':
		name, err := strconv.Unquote(part)
		return Field(name), err
	case part[0] == '@':
		n, err := operand(part[1:])
		return Key{Kind: ByKind, Start: n}, err
	case !strings.Contains(part, ":"):
		b, err := parseBound(part)
		return At(b), err
	}
	bounds := strings.Split(part, ":")
	if len(bounds) > 3 {
		return Key{}, strconv.ErrSyntax
	}
	var b [3]any
	for i, s := range bounds {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		var err error
		if b[i], err = parseBound(s); err != nil {
			return Key{}, err
		}
	}
	return Range(b[0], b[1], b[2]), nil
}

func parseBound(s string) (any, error) {
	if s[0] == '$' {
		return operand(s[1:])
	}
	return strconv.Atoi(s)
}

func operand(s string) (any, error) {
	i, err := strconv.Atoi(s)
	if err != nil || i < 0 {
		return nil, strconv.ErrSyntax
	}
	return Operand(i), nil
}
