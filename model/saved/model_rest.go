package saved

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// rest holds the fields of an object of the manifest that this version does not know. A later
// minor version wrote them, and they are written again when the model is saved.
type rest map[string]json.RawMessage

// decode decodes an object into the fields of a struct, and keeps the other ones. Names must
// match exactly.
func (r *rest) decode(b []byte, to any) error {
	*r = nil
	if string(b) == "null" {
		return nil
	}
	v := reflect.ValueOf(to).Elem()
	return members(b, func(name string, value []byte) error {
		for i := range v.NumField() {
			known, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			if known != name || known == "" || known == "-" {
				continue
			}
			if err := json.Unmarshal(value, v.Field(i).Addr().Interface()); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return nil
		}
		if *r == nil {
			*r = rest{}
		}
		(*r)[name] = bytes.Clone(value)
		return nil
	})
}

// encode returns the object of a struct's fields, followed by those that were kept.
func (r rest) encode(from any) ([]byte, error) {
	b, err := json.Marshal(from)
	if err != nil {
		return nil, err
	}
	for _, k := range sortedKeys(r) {
		name, err := json.Marshal(k)
		if err != nil {
			return nil, err
		}
		if b = b[:len(b)-1]; len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(append(append(b, name...), ':'), r[k]...), '}')
	}
	return b, nil
}

// The objects of the manifest that keep unknown fields.

type (
	plainManifest manifest
	plainFunc     jsonFunc
	plainVariant  jsonVariant
	plainVariable jsonVariable
)

// UnmarshalJSON reads the object.
func (m *manifest) UnmarshalJSON(b []byte) error { return m.rest.decode(b, (*plainManifest)(m)) }

// MarshalJSON writes the object.
func (m manifest) MarshalJSON() ([]byte, error) { return m.rest.encode(plainManifest(m)) }

// UnmarshalJSON reads the object.
func (f *jsonFunc) UnmarshalJSON(b []byte) error { return f.rest.decode(b, (*plainFunc)(f)) }

// MarshalJSON writes the object.
func (f jsonFunc) MarshalJSON() ([]byte, error) { return f.rest.encode(plainFunc(f)) }

// UnmarshalJSON reads the object.
func (v *jsonVariant) UnmarshalJSON(b []byte) error { return v.rest.decode(b, (*plainVariant)(v)) }

// MarshalJSON writes the object.
func (v jsonVariant) MarshalJSON() ([]byte, error) { return v.rest.encode(plainVariant(v)) }

// UnmarshalJSON reads the object.
func (v *jsonVariable) UnmarshalJSON(b []byte) error { return v.rest.decode(b, (*plainVariable)(v)) }

// MarshalJSON writes the object.
func (v jsonVariable) MarshalJSON() ([]byte, error) { return v.rest.encode(plainVariable(v)) }
