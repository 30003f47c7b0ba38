package zipbounds

import (
	"archive/zip"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// maxRatio bounds the expansion of a compressed record: deflate expands a byte to at most 1032
// bytes.
const maxRatio = 1040

// check returns an error unless all readers interpret an archive of size bytes in the same
// way: its records must be contiguous from the first byte on, each present once with a header
// that matches the directory, and nothing may follow the directory. Then no two records share
// bytes, and no other format can hide before, between or after them.
func check(r io.ReaderAt, z *zip.Reader, size int64) error {
	sum := uint64(0)
	for _, f := range z.File {
		if sum += f.CompressedSize64; f.CompressedSize64 > uint64(size) || sum > uint64(size) {
			return fmt.Errorf("record %q: the records overlap, or are longer than the file", f.Name)
		}
	}
	type record struct {
		*zip.File
		data int64
	}
	records := make([]record, len(z.File))
	for i, f := range z.File {
		at, err := f.DataOffset()
		if err != nil {
			return fmt.Errorf("record %q: %w", f.Name, err)
		}
		records[i] = record{f, at}
	}
	slices.SortFunc(records, func(a, b record) int { return cmp.Compare(a.data, b.data) })
	at := int64(0)
	for i, f := range records {
		if i > 0 {
			at = behind(r, records[i-1].File, at)
		}
		if err := header(r, f.File, at, f.data); err != nil {
			return fmt.Errorf("record %q: %w", f.Name, err)
		}
		at = f.data + int64(f.CompressedSize64)
	}
	if n := len(records); n > 0 {
		at = behind(r, records[n-1].File, at)
	}
	return end(r, z, at, size)
}

// The signatures of parts of an archive.
const (
	localHeader    = "PK\x03\x04"
	directoryEntry = "PK\x01\x02"
	directory64    = "PK\x06\x06" // the end of an empty directory that counts by 64 bits
	theEnd         = "PK\x05\x06"
	locator64      = "PK\x06\x07" // where that stands
	descriptor     = "PK\x07\x08"
)

// behind returns the beginning of the next part after a record whose bytes end at a position,
// skipping the record's sizes if they follow.
func behind(r io.ReaderAt, f *zip.File, at int64) int64 {
	if f.Flags&0x8 == 0 {
		return at
	}
	const checksum = 4
	from := at + checksum
	if is(r, at, descriptor) {
		from += int64(len(descriptor))
	}
	for _, sizes := range []int64{8, 16} { // 32-bit or 64-bit sizes, which only the next part distinguishes
		if is(r, from+sizes, localHeader) || is(r, from+sizes, directoryEntry) {
			return from + sizes
		}
	}
	return at
}

// is reports whether a signature is at a position.
func is(r io.ReaderAt, at int64, signature string) bool {
	var b [4]byte
	n, _ := r.ReadAt(b[:], at)
	return n == len(b) && string(b[:]) == signature
}

// header compares the header of a record, which must take up the bytes between two positions, with
// the directory.
func header(r io.ReaderAt, f *zip.File, at, data int64) error {
	const fixed = 30
	n := data - at
	if n < fixed || n > fixed+2<<16 {
		return errors.New("it overlaps another record, or bytes before it belong to no record")
	}
	b := make([]byte, n)
	if k, err := r.ReadAt(b, at); k < len(b) {
		return err
	}
	short := func(i int) int { return int(binary.LittleEndian.Uint16(b[i:])) }
	long := func(i int) uint32 { return binary.LittleEndian.Uint32(b[i:]) }
	name := short(26)
	if string(b[:4]) != localHeader || fixed+name+short(28) != len(b) {
		return errors.New("it overlaps another record, or bytes before it belong to no record")
	}
	size := func(i int, want uint64) bool { return long(i) == uint32(min(want, 1<<32-1)) || long(i) == 1<<32-1 }
	later := f.Flags&0x8 != 0 && long(18) == 0 && long(22) == 0 // sizes and checksum follow the bytes
	const flags = 0x9                                           // encrypted, and sizes after the bytes
	if string(b[fixed:fixed+name]) != f.Name || short(6)&flags != int(f.Flags)&flags || short(8) != int(f.Method) ||
		!later && (long(14) != f.CRC32 || !size(18, f.CompressedSize64) || !size(22, f.UncompressedSize64)) {
		return errors.New("its header differs from the directory")
	}
	return nil
}

// end checks that the directory follows the records and ends the file.
func end(r io.ReaderAt, z *zip.Reader, at, size int64) error {
	switch {
	case len(z.File) > 0 && !is(r, at, directoryEntry), len(z.File) == 0 && !is(r, at, theEnd) && !is(r, at, directory64):
		return errors.New("bytes between the records and the directory belong to no record")
	case !is(r, size-22-int64(len(z.Comment)), theEnd):
		return errors.New("something follows the archive")
	}
	return nil
}

// Grows returns an error if a record cannot have the size that the archive states.
func Grows(f *zip.File) error {
	n := f.UncompressedSize64
	if n > maxRatio*(f.CompressedSize64+1) || f.Method == zip.Store && n != f.CompressedSize64 {
		return fmt.Errorf("a record of %d bytes cannot have %d", f.CompressedSize64, n)
	}
	return nil
}
