package files

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/tenonml/tenon/data/dataset"
	"github.com/tenonml/tenon/internal/input"
	"github.com/tenonml/tenon/shape"
	"github.com/tenonml/tenon/tensor"
)

// A Bunch is a table of numbers with a target for each row.
type Bunch struct {
	Data    tensor.Tensor // float64[rows, features]
	Target  tensor.Tensor // int64[rows] for classes, otherwise float64[rows]; nil if there is none
	Classes []string      // names of the classes, or nil if the file has none
}

// Dataset returns the rows with their targets.
func (b *Bunch) Dataset() *dataset.Dataset[Labelled] {
	if b.Target == nil {
		return dataset.Map(dataset.FromRows[tensor.Tensor](b.Data), func(x tensor.Tensor) (Labelled, error) { return Labelled{X: x}, nil })
	}
	return dataset.FromRows(Labelled{b.Data, b.Target})
}

// ScikitLearn reads a table from sklearn/datasets/data, compressed or not. It reads iris.csv,
// wine_data.csv and breast_cancer.csv, whose first line has the numbers of rows and features and
// the names of the classes; digits.csv.gz, whose last column is the class; and tables of numbers
// without a class, such as diabetes_data_raw.csv.gz and diabetes_target.csv.gz. Fields are
// separated by commas or spaces; a header with names is skipped.
func ScikitLearn(name string) (b *Bunch, err error) {
	r, err := input.File(name).Open()
	if err != nil {
		return nil, inFile("ScikitLearn", name, err)
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	b, err = DecodeScikitLearn(r)
	return b, inFile("ScikitLearn", name, err)
}

// DecodeScikitLearn is [ScikitLearn] for a reader.
func DecodeScikitLearn(r io.Reader) (*Bunch, error) {
	next := recordsOf(r)
	first, err := next()
	if err != nil {
		return nil, fmt.Errorf("the first line: %w", err)
	}
	out := &Bunch{}
	rows, features := -1, -1
	if len(first) >= 2 {
		n, err1 := strconv.Atoi(first[0])
		k, err2 := strconv.Atoi(first[1])
		if err1 == nil && err2 == nil && n >= 0 && k > 0 && len(first) > 2 && !isNumber(first[2]) {
			rows, features, out.Classes = n, k, first[2:]
		}
	}
	var data []float64
	width, line := 0, 0
	add := func(record []string) error {
		if line++; width == 0 {
			width = len(record)
		}
		if len(record) != width {
			return fmt.Errorf("row %d has %d fields, but the first has %d", line, len(record), width)
		}
		for _, f := range record {
			x, err := strconv.ParseFloat(f, 64)
			if err != nil {
				return fmt.Errorf("row %d: %w", line, err)
			}
			data = append(data, x)
		}
		return nil
	}
	if out.Classes == nil && isNumber(first[0]) {
		if err := add(first); err != nil {
			return nil, err
		}
	}
	for {
		record, err := next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = add(record)
		}
		if err != nil {
			return nil, err
		}
	}
	if out.Classes != nil && (line != rows || line > 0 && width != features+1) {
		return nil, fmt.Errorf("there are %d rows of %d fields, but the first line announces %d rows of %d features and a class", line, width, rows, features)
	}
	if out.Classes == nil && width != 65 { // digits have 64 pixels and a class
		out.Data = tensor.Wrap(data, shape.Of(line, width))
		return out, nil
	}
	classes := len(out.Classes)
	if out.Classes == nil {
		classes = 10
	}
	values, target := make([]float64, 0, len(data)), make([]int64, line)
	for i := range line {
		row := data[i*width : (i+1)*width]
		values = append(values, row[:width-1]...)
		c := row[width-1]
		if target[i] = int64(c); float64(target[i]) != c || c < 0 || target[i] >= int64(classes) {
			return nil, fmt.Errorf("row %d has class %v, but there are %d classes", i+1, c, classes)
		}
	}
	out.Data, out.Target = tensor.Wrap(values, shape.Of(line, max(0, width-1))), tensor.Vector(target)
	return out, nil
}

func isNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil
}

// recordsOf reads records whose fields are separated by commas, or by spaces if the first line has
// no comma. Lines without fields are skipped.
func recordsOf(r io.Reader) func() ([]string, error) {
	b := bufio.NewReader(r)
	head, _ := b.Peek(1 << 12) // a read error is reported for the first line
	head, _, _ = bytes.Cut(head, []byte{'\n'})
	if bytes.IndexByte(head, ',') >= 0 {
		c := csv.NewReader(b)
		c.FieldsPerRecord = -1
		return c.Read
	}
	lines := bufio.NewScanner(b)
	lines.Buffer(nil, 1<<24)
	return func() ([]string, error) {
		for lines.Scan() {
			if f := strings.Fields(lines.Text()); len(f) > 0 {
				return f, nil
			}
		}
		if err := lines.Err(); err != nil {
			return nil, err
		}
		return nil, io.EOF
	}
}
