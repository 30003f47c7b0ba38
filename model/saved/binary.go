package saved

import (
	"bytes"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/internal/source"
)

// Binary makes a Value usable with encoding/gob, and with anything else that knows the interfaces
// of package encoding: as a field of a struct, or an element of a list. The encoding is that of a
// file, including the Spec. Because Values never change, decoding replaces the Value.
//
//	type Message struct {
//		Words saved.Binary // any Value: a tensor, ragged rows, records, a type of your own
//	}
//	err := gob.NewEncoder(w).Encode(Message{saved.Binary{Value: words}})
type Binary struct{ tenon.Value }

// MarshalBinary returns the bytes of a file that holds the Value, or no bytes for nil.
func (b Binary) MarshalBinary() ([]byte, error) {
	if b.Value == nil {
		return nil, nil
	}
	var w bytes.Buffer
	err := Encode(&w, b.Value)
	return w.Bytes(), err
}

// UnmarshalBinary decodes the result of MarshalBinary, or any file with a single Value.
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
		return &tenon.Error{Kind: tenon.ErrInvalid, Op: "saved.Binary", Msg: "the bytes are a file with several Values", Line: source.Line(), Hint: "read it with saved.Fill"}
	}
	b.Value, err = f.Value(names[0])
	return err
}
