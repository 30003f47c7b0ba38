package key

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tenonml/tenon"
)

// Format returns the text of keys and the values that it refers to by number:
// tensors as bounds ($0) and tensors of positions (@1).
func Format(keys []Key) (text string, values []tenon.Value) {
	var b strings.Builder
	write := func(bound any) {
		switch x := bound.(type) {
		case nil:
		case tenon.Value:
			fmt.Fprintf(&b, "$%d", len(values))
			values = append(values, x)
		default:
			fmt.Fprint(&b, x)
		}
	}
	for i, k := range keys {
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
			fmt.Fprintf(&b, "@%d", len(values))
			values = append(values, k.Value)
		}
	}
	return b.String(), values
}

// Parse reads what [Format] writes.
func Parse(text string, values []tenon.Value) ([]Key, error) {
	var keys []Key
	for rest := strings.TrimSpace(text); rest != ""; {
		part, after, err := next(rest)
		if err != nil {
			return nil, bad(text)
		}
		k, err := parseOne(part, values)
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

// next cuts the first key off. A quoted name may hold a comma.
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

func parseOne(part string, values []tenon.Value) (Key, error) {
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
		v, err := value(part[1:], values)
		if err != nil {
			return Key{}, err
		}
		return By(v.(tenon.Value)), nil
	case !strings.Contains(part, ":"):
		b, err := parseBound(part, values)
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
		if b[i], err = parseBound(s, values); err != nil {
			return Key{}, err
		}
	}
	return Range(b[0], b[1], b[2]), nil
}

func parseBound(s string, values []tenon.Value) (any, error) {
	if s[0] == '$' {
		return value(s[1:], values)
	}
	return strconv.Atoi(s)
}

func value(s string, values []tenon.Value) (any, error) {
	i, err := strconv.Atoi(s)
	if err != nil || i < 0 || i >= len(values) || values[i] == nil {
		return nil, strconv.ErrSyntax
	}
	return values[i], nil
}
