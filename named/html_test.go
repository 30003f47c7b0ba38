package named_test

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/tenonml/tenon"
	"github.com/tenonml/tenon/dtype"
	"github.com/tenonml/tenon/named"
	"github.com/tenonml/tenon/ragged"
)

func ExampleTensor_HTML() {
	fmt.Println(named.Of([][]float32{{1, 2.5}, {3, 4}}, Seq{}, Rep{}).HTML())
	// Output:
	// <section class="tenon"><p><code>float32{Seq:2 Rep:2}</code></p>
	// <table>
	// <tr><th>Seq \ Rep</th><th>0</th><th>1</th></tr>
	// <tr><th>0</th><td>1.0</td><td>2.5</td></tr>
	// <tr><th>1</th><td>3.0</td><td>4.0</td></tr>
	// </table>
	// </section>
}

// HTML is well-formed and no longer than a page, whatever the tensor; what it shows is what
// the names say, in any order of storage.
func TestHTML(t *testing.T) {
	x := count(Batch{}.Of(2), Seq{}.Of(30), Rep{}.Of(40))
	many := count(Batch{}.Of(9), Head{}.Of(9), Seq{}.Of(2), Rep{}.Of(2))
	rows := named.Of(tenon.Must(ragged.Const([][]int64{{1, 2}, {}, {3}}, ragged.Options{})), Batch{}, Seq{})
	tests := []struct {
		name   string
		x      *named.Tensor
		tables int
		words  []string
	}{
		{"nil", nil, 0, nil},
		{"scalar", named.Scalar(1.5), 1, []string{"<td>1.5</td>"}},
		{"vector", count(Seq{}.Of(3)), 1, []string{"<th>Seq</th>", "<td>2.0</td>"}},
		{"view", named.Order(x, Rep{}, Seq{}, Batch{}), 10, []string{"Rep = 39", "<td>…</td>", "⋮"}},
		{"three dimensions", x, 2, []string{"<caption>Batch = 1</caption>", "<td>2399.0</td>", "<th>…</th>"}},
		{"many tables", many, 20, []string{"Batch = 2, Head = 1", "<p>…</p>"}},
		{"no elements", count(Seq{}.Of(0), Rep{}.Of(2)), 1, []string{"Seq \\ Rep"}},
		{"texts", named.Of([]string{"<b>"}, Seq{}), 0, []string{"&lt;b&gt;"}},
		{"ragged", rows, 0, []string{"<pre>", "[3]"}},
		{"truth values", named.Zeros(dtype.Bool, Seq{}.Of(1)), 1, []string{"<td>false</td>"}},
		{"name of a file", named.Of([]int32{1}, named.Dynamic("a<b")), 1, []string{"<th>a&lt;b</th>"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.x.HTML()
			d := xml.NewDecoder(strings.NewReader(got))
			for {
				if _, err := d.Token(); err == io.EOF {
					break
				} else if err != nil {
					t.Fatalf("%v in\n%s", err, got)
				}
			}
			if n := strings.Count(got, "<table>"); n != tt.tables {
				t.Errorf("%d tables, want %d", n, tt.tables)
			}
			for _, w := range tt.words {
				if !strings.Contains(got, w) {
					t.Errorf("no %q in\n%.2000s", w, got)
				}
			}
		})
	}
}
