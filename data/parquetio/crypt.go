package parquetio

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/tenonml/tenon/structured"
)

// Keys are the keys of encrypted files (Parquet's modular encryption): each page, and each part of the page index and
// of the footer, is encrypted separately with AES in Galois counter mode. Keys have 16, 24 or 32 bytes.
type Keys struct {
	// Footer is the key of the footer, and of each column without a key of its own.
	Footer []byte

	// Columns are keys of columns, by names or paths as in [ReadOptions.Columns]. The key of a record also applies to
	// its fields. A reader that has only some of these keys, and the footer key, can read only those columns.
	Columns map[string][]byte

	// Prefix distinguishes files that have the same keys, for example by name and version. It is not stored in the
	// file, and readers must know it, so that nobody can substitute one file for another. Empty means none.
	Prefix []byte

	// Name returns the key metadata to store in a written file for the key of a column, or of the footer if the path
	// is empty, from which Find can retrieve the key. Nil means no metadata.
	Name func(column string) []byte

	// Find returns the key for key metadata in a file, for keys that are not given above. Nil means that there are no
	// others.
	Find func(name []byte) ([]byte, error)
}

// of returns the name or path under which a column has a key of its own, and whether it has one.
func (k *Keys) of(path []string) (column string, own bool) {
	for n := len(path); n > 0; n-- {
		column := structured.PathString(path[:n])
		if _, ok := k.Columns[column]; ok {
			return column, true
		}
	}
	_, own = k.Columns[path[0]] // the name of a whole column
	return path[0], own
}

// found returns a key that is not given explicitly.
func (k *Keys) found(name []byte) ([]byte, error) {
	if len(name) == 0 || k.Find == nil {
		return nil, errors.New("there is no key for it")
	}
	return k.Find(name)
}

// named returns the key metadata of a column.
func (k *Keys) named(column string) []byte {
	if k.Name == nil {
		return nil
	}
	return k.Name(column)
}

// leafPaths returns the paths of the leaves of columns, through lists, in schema order.
func leafPaths(fields []arrow.Field) [][]string {
	var out [][]string
	var walk func(t arrow.DataType, path []string)
	walk = func(t arrow.DataType, path []string) {
		switch t := t.(type) {
		case *arrow.StructType:
			for _, f := range t.Fields() {
				walk(f.Type, append(path[:len(path):len(path)], f.Name))
			}
		case *arrow.MapType:
			walk(t.KeyType(), append(path[:len(path):len(path)], "key"))
			walk(t.ItemType(), append(path[:len(path):len(path)], "value"))
		case arrow.ListLikeType:
			walk(t.Elem(), path)
		default:
			out = append(out, path)
		}
	}
	for _, f := range fields {
		walk(f.Type, []string{f.Name})
	}
	return out
}

// The parts of a file that are encrypted separately.
const (
	partFooter = iota
	partColumn // column metadata
	partData
	partDict
	partDataHead
	partDictHead
	partBounds  // column index
	partOffsets // offset index
)

const (
	nonceSize = 12
	tagSize   = 16
	sealedMin = 4 + nonceSize // includes the length prefix
)

// A cipherOf encrypts everything that uses one key.
type cipherOf struct {
	block   cipher.Block
	gcm     cipher.AEAD
	file    []byte // unique identifier of the file
	counter bool   // pages are encrypted in counter mode, which does not detect damage
}

// newCipher returns the cipher for a key.
func newCipher(key, file []byte, counter bool) (*cipherOf, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("a key has %d bytes, want 16, 24 or 32", len(key))
	}
	gcm, err := cipher.NewGCM(block)
	return &cipherOf{block, gcm, file, counter}, err
}

// A secret encrypts or decrypts a column chunk.
type secret struct {
	*cipherOf
	group, column int
	name          []byte // key metadata
	own           bool   // the column has a key of its own
	err           error  // why there is no key
}

// fileIs returns the additional authenticated data (AAD) of a part of a file.
func (c *cipherOf) fileIs(part byte) []byte {
	return append(c.file[:len(c.file):len(c.file)], part)
}

// aad returns the additional authenticated data of a part of a column chunk: its position. Pages are
// numbered.
func (s *secret) aad(part byte, page int) []byte {
	b := s.fileIs(part)
	b = binary.LittleEndian.AppendUint16(b, uint16(s.group))
	b = binary.LittleEndian.AppendUint16(b, uint16(s.column))
	if part == partData || part == partDataHead {
		b = binary.LittleEndian.AppendUint16(b, uint16(page))
	}
	return b
}

// seal appends an encrypted part.
func (c *cipherOf) seal(to, b, aad []byte) []byte {
	var nonce [nonceSize]byte
	_, _ = rand.Read(nonce[:]) // never fails
	to = binary.LittleEndian.AppendUint32(to, uint32(nonceSize+len(b)+tagSize))
	to = append(to, nonce[:]...)
	return c.gcm.Seal(to, nonce[:], b, aad)
}

// framed returns the first encrypted part, and the bytes that follow it.
func framed(b []byte) (part, rest []byte, err error) {
	if len(b) < sealedMin {
		return nil, nil, errSealed
	}
	n := binary.LittleEndian.Uint32(b)
	if n < nonceSize || uint64(n) > uint64(len(b)-4) {
		return nil, nil, errSealed
	}
	return b[4 : 4+n], b[4+n:], nil
}

var errSealed = errors.New("it is encrypted with another key, or damaged")

// open decrypts a part, in place if inPlace is set.
func (c *cipherOf) open(part, aad []byte, inPlace bool) ([]byte, error) {
	if len(part) < nonceSize+tagSize {
		return nil, errSealed
	}
	nonce, b := part[:nonceSize], part[nonceSize:]
	to := []byte(nil)
	if inPlace {
		to = b[:0]
	}
	out, err := c.gcm.Open(to, nonce, b, aad)
	if err != nil {
		return nil, errSealed
	}
	return out, nil
}

// page decrypts a page in place.
func (s *secret) page(part byte, b []byte, page int) ([]byte, error) {
	in, rest, err := framed(b)
	if err != nil || len(rest) > 0 {
		return nil, errSealed
	}
	if !s.counter {
		return s.open(in, s.aad(part, page), true)
	}
	var start [aes.BlockSize]byte
	copy(start[:], in[:nonceSize])
	start[aes.BlockSize-1] = 1
	b = in[nonceSize:]
	cipher.NewCTR(s.block, start[:]).XORKeyStream(b, b)
	return b, nil
}

// whole decrypts a part that takes up all of the given bytes.
func (s *secret) whole(part byte, b []byte) ([]byte, error) {
	in, rest, err := framed(b)
	if err != nil || len(rest) > 0 {
		return nil, errSealed
	}
	return s.open(in, s.aad(part, 0), true)
}

// numbered checks that the number of a row group, column or page can be represented.
func numbered(n int) error {
	if n > math.MaxInt16 {
		return fmt.Errorf("an encrypted file can have at most %d row groups, columns, and pages of a column in a row group", math.MaxInt16+1)
	}
	return nil
}

// A sealing encrypts a file that is being written.
type sealing struct {
	footerKey *cipherOf
	name      []byte   // metadata of the footer key
	prefix    bool     // the file has a prefix
	unique    []byte   // unique identifier of the file
	columns   []secret // secrets of the first row group
}

// newSealing returns the encryption of a file whose columns have the given paths.
func newSealing(k *Keys, paths [][]string) (*sealing, error) {
	const uniqueSize = 8
	x := &sealing{name: k.named(""), prefix: len(k.Prefix) > 0, unique: make([]byte, uniqueSize), columns: make([]secret, len(paths))}
	_, _ = rand.Read(x.unique) // never fails
	file := append(bytes.Clone(k.Prefix), x.unique...)
	var err error
	if x.footerKey, err = newCipher(k.Footer, file, false); err != nil {
		return nil, fmt.Errorf("Keys.Footer: %w", err)
	}
	if err := numbered(len(paths) - 1); err != nil {
		return nil, err
	}
	used := map[string]bool{}
	for i, path := range paths {
		s := &x.columns[i]
		s.column, s.cipherOf = i, x.footerKey
		column, own := k.of(path)
		if s.own = own; own {
			s.name = k.named(column)
			used[column] = true
			if s.cipherOf, err = newCipher(k.Columns[column], file, false); err != nil {
				return nil, fmt.Errorf("Keys.Columns, %s: %w", column, err)
			}
		}
	}
	for column := range k.Columns {
		if !used[column] {
			return nil, fmt.Errorf("Keys.Columns: there is no column %s, or each column in it has a key of its own", column)
		}
	}
	return x, nil
}

// of returns the secret of a column chunk.
func (x *sealing) of(group, column int) *secret {
	s := x.columns[column]
	s.group = group
	return &s
}

// footer returns an encrypted footer, preceded by its encryption metadata.
func (x *sealing) footer(b []byte) []byte {
	const galois = 1
	w := &record{}
	w.structure(func() {
		w.in(1, func() {
			w.in(galois, func() {
				w.text(2, string(x.unique))
				w.truth(3, x.prefix)
			})
		})
		if len(x.name) > 0 {
			w.text(2, string(x.name))
		}
	})
	return x.footerKey.seal(w.b, b, x.footerKey.fileIs(partFooter))
}
