package function

import (
	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/nest"
)

// cast returns arguments that belong to the declared signature, made by casts that the
// types of the arguments, or those of the signature, declare. It returns false where
// nothing has to be cast, or something cannot be.
func (c *core) cast(s *signature, args []any) ([]any, bool) {
	d, err := signatureOf(c.opts.Signature)
	if err != nil || len(d.leaves) != len(s.leaves) {
		return nil, false
	}
	leaves, err := nest.Flatten(args, nest.Options{})
	if err != nil || len(leaves) != len(d.leaves) {
		return nil, false
	}
	changed := false
	for i, want := range d.leaves {
		v, ok := leaves[i].(tenon.Value)
		if !ok || want.spec == nil || tenon.Belongs(v, want.spec) {
			continue
		}
		out, err := tenon.Cast(v, want.spec)
		if err != nil {
			return nil, false
		}
		leaves[i], changed = out, true
	}
	if !changed {
		return nil, false
	}
	out, err := nest.Pack(args, leaves, nest.Options{})
	return out, err == nil
}
