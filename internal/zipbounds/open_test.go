package zipbounds_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/tenonml/tenon/internal/zipbounds"
)

// A crowd is an archive of one record, which its directory lists n times. It is made while it is
// read.
type crowd struct {
	head, entry, tail []byte
	n                 int64
	read              int64
}

func newCrowd(n int64, states uint64) *crowd {
	le := binary.LittleEndian
	c := &crowd{n: n}
	c.head = append([]byte("PK\x03\x04"), make([]byte, 26)...)
	le.PutUint16(c.head[26:], 1)
	c.head = append(c.head, 'a')
	c.entry = append([]byte("PK\x01\x02"), make([]byte, 42)...)
	le.PutUint16(c.entry[28:], 1)
	c.entry = append(c.entry, 'a')
	length := uint64(n) * uint64(len(c.entry))
	at := uint64(len(c.head))
	c.tail = append([]byte("PK\x06\x06"), make([]byte, 52)...)
	le.PutUint64(c.tail[4:], 44)
	le.PutUint64(c.tail[24:], states)
	le.PutUint64(c.tail[32:], states)
	le.PutUint64(c.tail[40:], length)
	le.PutUint64(c.tail[48:], at)
	c.tail = append(c.tail, "PK\x06\x07\x00\x00\x00\x00"...)
	c.tail = le.AppendUint64(c.tail, at+length)
	c.tail = le.AppendUint32(c.tail, 1)
	c.tail = append(c.tail, "PK\x05\x06"...)
	c.tail = append(c.tail, bytes.Repeat([]byte{0}, 4)...)
	c.tail = append(c.tail, bytes.Repeat([]byte{255}, 12)...)
	c.tail = append(c.tail, 0, 0)
	return c
}

func (c *crowd) size() int64 {
	return int64(len(c.head)) + c.n*int64(len(c.entry)) + int64(len(c.tail))
}

// ReadAt makes bytes.
func (c *crowd) ReadAt(b []byte, at int64) (n int, err error) {
	for n < len(b) && at < c.size() {
		var from []byte
		switch k := at - int64(len(c.head)); {
		case k < 0:
			from = c.head[at:]
		case k < c.n*int64(len(c.entry)):
			from = c.entry[k%int64(len(c.entry)):]
		default:
			from = c.tail[k-c.n*int64(len(c.entry)):]
		}
		k := copy(b[n:], from)
		n, at = n+k, at+int64(k)
	}
	if c.read += int64(n); n < len(b) {
		err = io.EOF
	}
	return n, err
}

// TestManyRecords lists a record 10 million times: it is refused before there is memory for
// them, or all of them were read, whatever number the archive states.
func TestManyRecords(t *testing.T) {
	if z, err := zip.NewReader(newCrowd(3, 3), newCrowd(3, 3).size()); err != nil || len(z.File) != 3 {
		t.Fatalf("the archive of this test is none: %v", err)
	}
	for _, states := range []uint64{10_000_000, 10_000_000 % 65536, 1} {
		c := newCrowd(10_000_000, states)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := zipbounds.Open(c, c.size())
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), "more than 100000 records") {
			t.Errorf("%d stated: got %v", states, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 || c.read > 8<<20 {
			t.Errorf("%d stated: %d bytes of memory, %d read", states, took, c.read)
		}
	}
	// So many that a model might have them are read, and found to be one.
	c := newCrowd(1000, 1000)
	if _, err := zipbounds.Open(c, c.size()); err == nil || !strings.Contains(err.Error(), "overlaps") {
		t.Errorf("a thousand on the same bytes: %v", err)
	}
}
