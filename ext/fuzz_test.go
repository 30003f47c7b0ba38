package ext_test

import (
	"errors"
	"testing"

	"github.com/tenonml/tenon"
)

// FuzzDecode reads Specs of derived types from bytes: what decodes is written again as it
// was read, and everything else is an error of a kind.
func FuzzDecode(f *testing.F) {
	for _, v := range []tenon.Value{everything(), Static{1}, pair(1, 2), Config{}, Versioned{}} {
		f.Add(tenon.AppendBinary(nil, v.Spec()))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, _, err := tenon.DecodeBinary(b)
		if err != nil {
			var e *tenon.Error
			if !errors.As(err, &e) || e.Kind == nil {
				t.Fatalf("the error is the %T %v", err, err)
			}
			return
		}
		if s == nil {
			return
		}
		again, _, err := tenon.DecodeBinary(tenon.AppendBinary(nil, s))
		if err != nil || !tenon.Equal(s, again) {
			t.Fatalf("%s reads back as %v, %v", tenon.Text(s), again, err)
		}
		_ = tenon.String(s)
	})
}
