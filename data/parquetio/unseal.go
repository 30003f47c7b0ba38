package parquetio

import (
	"bytes"
	"crypto/subtle"
	"errors"
	"fmt"

	"github.com/tenonml/tenon/structured"
)

// An algorithm is the encryption algorithm of a file, as described in the file.
type algorithm struct {
	there   bool
	counter bool   // pages are in counter mode
	prefix  []byte // prefix stored in the file
	unique  []byte
	asks    bool   // readers must supply the prefix
	name    []byte // metadata of the footer key
}

// algorithm reads the union of algorithms.
func (w *thrift) algorithm(a *algorithm) {
	w.fields(func(id int, kind byte) bool {
		const counter = 2
		if kind != kindStruct || id < 1 || id > counter {
			return false
		}
		a.there, a.counter = true, id == counter
		w.fields(func(id int, kind byte) bool {
			switch {
			case id == 1 && kind == kindBinary:
				a.prefix = w.bytes()
			case id == 2 && kind == kindBinary:
				a.unique = w.bytes()
			case id == 3:
				a.asks = kind == kindTrue
				return false
			default:
				return false
			}
			return true
		})
		return true
	})
}

// file returns the additional authenticated data common to all parts of a file.
func (a *algorithm) file(k *Keys) ([]byte, error) {
	prefix := a.prefix
	switch {
	case !a.there:
		return nil, errors.New("the encryption algorithm of the file is not supported")
	case len(k.Prefix) > 0 && len(prefix) > 0 && !bytes.Equal(prefix, k.Prefix):
		return nil, errors.New("the prefix of the file differs from Keys.Prefix")
	case len(k.Prefix) > 0:
		prefix = k.Prefix
	case a.asks && len(prefix) == 0:
		return nil, errors.New("the file needs an AAD prefix; set Keys.Prefix")
	}
	return append(bytes.Clone(prefix), a.unique...), nil
}

// cipher returns the cipher of a footer.
func (a *algorithm) cipher(k *Keys) (*cipherOf, error) {
	file, err := a.file(k)
	if err != nil {
		return nil, err
	}
	key := k.Footer
	if key == nil {
		if key, err = k.found(a.name); err != nil {
			return nil, fmt.Errorf("the footer: %w", err)
		}
	}
	return newCipher(key, file, a.counter)
}

// sealedFooter decrypts a footer, which is preceded by its encryption metadata.
func sealedFooter(b []byte, k *Keys) ([]byte, *algorithm, error) {
	if k == nil {
		return nil, nil, errors.New("the footer is encrypted (ReadOptions.Keys)")
	}
	a := &algorithm{}
	w := &thrift{b: b}
	w.fields(func(id int, kind byte) bool {
		switch {
		case id == 1 && kind == kindStruct:
			w.algorithm(a)
		case id == 2 && kind == kindBinary:
			a.name = w.bytes()
		default:
			return false
		}
		return true
	})
	if w.bad {
		return nil, nil, errFooter
	}
	c, err := a.cipher(k)
	if err != nil {
		return nil, nil, err
	}
	in, rest, err := framed(w.b)
	if err == nil && len(rest) == 0 {
		b, err = c.open(in, c.fileIs(partFooter), false)
	}
	if err != nil || len(rest) > 0 {
		return nil, nil, fmt.Errorf("the footer: %w", errSealed)
	}
	return b, a, nil
}

// plainFooter returns the algorithm of a file whose footer is not encrypted but may be signed, or nil if the file is
// not encrypted. The signature is checked if there is a key.
func plainFooter(b []byte, k *Keys) (*algorithm, error) {
	a := &algorithm{}
	w := &thrift{b: b}
	w.fields(func(id int, kind byte) bool {
		switch {
		case id == 8 && kind == kindStruct:
			w.algorithm(a)
			a.there = true
		case id == 9 && kind == kindBinary:
			a.name = w.bytes()
		default:
			return false
		}
		return true
	})
	if w.bad {
		return nil, errFooter
	}
	if !a.there {
		if k != nil {
			return nil, errors.New("the file is not encrypted, and ReadOptions.Keys has keys")
		}
		return nil, nil
	}
	if k == nil || k.Footer == nil && k.Find == nil {
		return a, nil
	}
	c, err := a.cipher(k)
	if err != nil {
		return nil, err
	}
	footer, sign := b[:len(b)-len(w.b)], w.b
	if len(sign) != nonceSize+tagSize {
		return nil, errors.New("the footer has no signature")
	}
	sum := c.gcm.Seal(nil, sign[:nonceSize], footer, c.fileIs(partFooter))
	if subtle.ConstantTimeCompare(sum[len(footer):], sign[nonceSize:]) == 0 {
		return nil, fmt.Errorf("the footer does not match its signature: %w", errSealed)
	}
	return a, nil
}

// secret reads the encryption of a column chunk.
func (w *thrift) secret() *secret {
	s := &secret{}
	w.fields(func(id int, kind byte) bool {
		const withColumn, name = 2, 2
		if id != withColumn || kind != kindStruct {
			return false
		}
		s.own = true
		w.fields(func(id int, kind byte) bool {
			if id != name || kind != kindBinary {
				return false
			}
			s.name = w.bytes()
			return true
		})
		return true
	})
	return s
}

// unseal looks up the keys of encrypted column chunks, whose leaves have the given paths, and decrypts their
// metadata. A missing key becomes an error when the column is read.
func (m *footer) unseal(a *algorithm, k *Keys, paths [][]string) {
	if k == nil {
		k = &Keys{}
	}
	for i := range m.groups {
		for j := range m.groups[i].chunks {
			c := &m.groups[i].chunks[j]
			if s := c.secret; s != nil {
				s.group, s.column = i, j
				if s.err = s.begin(a, k, paths[j], c); s.err != nil {
					s.err = fmt.Errorf("the column is encrypted: %w", s.err)
				}
			}
		}
	}
}

// begin looks up the key of a column, and decrypts the metadata of its chunk if it is encrypted.
func (s *secret) begin(a *algorithm, k *Keys, path []string, at *chunkAt) error {
	file, err := a.file(k)
	if err != nil {
		return err
	}
	key, name := k.Footer, a.name
	if s.own {
		column, _ := k.of(path)
		key, name = k.Columns[column], s.name
	}
	if key == nil {
		if key, err = k.found(name); err != nil {
			return fmt.Errorf("%w (ReadOptions.Keys, %s)", err, structured.PathString(path))
		}
	}
	if s.cipherOf, err = newCipher(key, file, a.counter); err != nil || at.sealed == nil {
		return err
	}
	b, err := s.whole(partColumn, at.sealed)
	if err != nil {
		return err
	}
	w := &thrift{b: b}
	if w.inChunk(at); w.bad {
		return errFooter
	}
	return nil
}
