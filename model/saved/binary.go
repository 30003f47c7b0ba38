package saved

import (
	"bytes"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/source"
)

// Binary is a Value as a part of what encoding/gob, or anything else that knows the interfaces of
// package encoding, writes and reads: a field of a struct, an element of a list. Its bytes are
// those of a file, and the Spec among them says what the Value is. Values are never changed, so
// that one cannot be read into itself.
//
//	type Message struct {
//		Words saved.Binary // any Value: a tensor, ragged rows, records, a type of your own
//	}
//	err := gob.NewEncoder(w).Encode(Message{saved.Binary{Value: words}})
type Binary struct{ tenon.Value }

// MarshalBinary returns the bytes of a file that holds the Value; none for nil.
func (b Binary) MarshalBinary() ([]byte, error) {
	if b.Value == nil {
		return nil, nil
	}
	var w bytes.Buffer
	err := Encode(&w, b.Value)
	return w.Bytes(), err
}

// UnmarshalBinary reads what MarshalBinary has written, or any file of a single Value.
func (b *Binary) UnmarshalBinary(data []byte) error {
	b.Value = nil
	if len(data) == 0 {
		return nil
	}
	f, err := NewFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return err
	}
	names := f.Names()
	if len(names) != 1 {
		return &tenon.Error{Kind: tenon.ErrInvalid, Op: "saved.Binary", Msg: "the bytes are a file of several Values", Line: source.Line(), Hint: "read it with saved.Fill"}
	}
	b.Value, err = f.Value(names[0])
	return err
}
