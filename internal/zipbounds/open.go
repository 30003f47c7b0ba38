package zipbounds

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Records is the maximum number of records of an archive: many times what models and arrays need.
const Records = 100_000

// Open opens an archive of size bytes, and checks that all readers interpret it in the same way. The
// records are counted before memory is allocated for them, whatever number the archive states.
func Open(r io.ReaderAt, size int64) (*zip.Reader, error) {
	if err := count(r, size); err != nil {
		return nil, err
	}
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, err
	}
	return z, check(r, z, size)
}

// The sizes of the structures after the records, without names and comments.
const (
	entryLen     = 46
	endLen       = 22
	end64Len     = 56
	locator64Len = 20
)

// count counts the records of the directory at the position stated in the archive. An archive
// without an end record is left to package zip.
func count(r io.ReaderAt, size int64) error {
	tail := make([]byte, min(size, endLen+1<<16))
	from := size - int64(len(tail))
	if n, err := r.ReadAt(tail, from); n < len(tail) {
		return err
	}
	at := len(tail) - endLen
	for ; at >= 0; at-- { // like package zip
		if bytes.HasPrefix(tail[at:], []byte(theEnd)) && at+endLen+int(binary.LittleEndian.Uint16(tail[at+20:])) <= len(tail) {
			break
		}
	}
	if at < 0 {
		return nil
	}
	length, begin := int64(binary.LittleEndian.Uint32(tail[at+12:])), int64(binary.LittleEndian.Uint32(tail[at+16:]))
	records := binary.LittleEndian.Uint16(tail[at+10:])
	behind := from + int64(at)
	if records == 1<<16-1 || length == 1<<32-1 || begin == 1<<32-1 {
		if p := at - locator64Len; p >= 0 && bytes.HasPrefix(tail[p:], []byte(locator64)) {
			behind = int64(binary.LittleEndian.Uint64(tail[p+8:]))
			var b [end64Len]byte
			if behind < 0 || behind > size-end64Len {
				return zip.ErrFormat
			}
			if n, err := r.ReadAt(b[:], behind); n < len(b) {
				return err
			}
			length, begin = int64(binary.LittleEndian.Uint64(b[40:])), int64(binary.LittleEndian.Uint64(b[48:]))
		}
	}
	const ends64 = end64Len + locator64Len // which may follow the directory
	if gap := behind - begin - length; length < 0 || begin < 0 || begin > behind || gap != 0 && gap != ends64 {
		return errors.New("the records do not end where the directory begins, or the directory is longer than stated")
	}
	if length > 0 && !is(r, begin, directoryEntry) { // package zip would look for it elsewhere
		return errors.New("the directory of the records is not where it should be")
	}
	directory := bufio.NewReader(io.NewSectionReader(r, begin, size-begin))
	for n := 0; ; n++ {
		b, err := directory.Peek(entryLen)
		if err != nil || !bytes.HasPrefix(b, []byte(directoryEntry)) {
			return nil
		}
		if n == Records {
			return fmt.Errorf("there are more than %d records", Records)
		}
		short := func(i int) int { return int(binary.LittleEndian.Uint16(b[i:])) }
		if _, err := directory.Discard(entryLen + short(28) + short(30) + short(32)); err != nil {
			return nil
		}
	}
}
