package runs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tenonml/tenon/data/protoio"
	"github.com/tenonml/tenon/internal/input"
)

// WriteTensorBoard writes the numbers of the run as scalars into a folder that TensorBoard
// reads (tensorboard --logdir), and returns the name of the file. To compare runs, write each
// to a folder of its own.
func (r *Run) WriteTensorBoard(dir string) (string, error) {
	const fn = "runs.WriteTensorBoard"
	host := strings.Map(func(c rune) rune {
		if c == '/' || c == os.PathSeparator {
			return '_'
		}
		return c
	}, r.Host)
	if host == "" {
		host = "tenon"
	}
	name := filepath.Join(dir, fmt.Sprintf("events.out.tfevents.%d.%s", max(r.Started.Unix(), 0), host))
	err := os.MkdirAll(dir, 0o755)
	if err == nil {
		err = input.WriteFile(name, r.encodeTensorBoard)
	}
	if err != nil {
		return "", fail(fn, dir, err)
	}
	return name, nil
}

// encodeTensorBoard writes messages Event of TensorFlow's event.proto, each framed as a TFRecord.
func (r *Run) encodeTensorBoard(w io.Writer) error {
	x, err := protoio.NewRecordWriter(w, protoio.RecordOptions{})
	if err != nil {
		return err
	}
	first := double(nil, 1, wall(r.Started))
	err = x.Write(text(first, 3, "brain.Event:2"))
	for _, e := range r.Events {
		var summary []byte
		scalar := func(tag string, v float64) {
			one := text(nil, 1, tag)
			one = binary.AppendUvarint(one, 2<<3|5)
			one = binary.LittleEndian.AppendUint32(one, math.Float32bits(float32(v)))
			summary = text(summary, 1, string(one))
		}
		for _, x := range e.measured() {
			scalar(x.name, x.value)
		}
		at := e.Time
		if at.IsZero() {
			at = r.Started.Add(e.Elapsed)
		}
		m := double(nil, 1, wall(at))
		m = binary.AppendUvarint(binary.AppendUvarint(m, 2<<3), uint64(e.Step))
		err = errors.Join(err, x.Write(text(m, 5, string(summary))))
	}
	return errors.Join(err, x.Close())
}

func wall(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixNano()) / 1e9
}

func double(b []byte, field uint64, v float64) []byte {
	return binary.LittleEndian.AppendUint64(binary.AppendUvarint(b, field<<3|1), math.Float64bits(v))
}

func text(b []byte, field uint64, s string) []byte {
	b = binary.AppendUvarint(b, field<<3|2)
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}
