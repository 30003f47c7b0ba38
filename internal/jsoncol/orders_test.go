package jsoncol

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/bits"
	"testing"

	"github.com/tenonml/tenon/dtype"
)

// The benchmark's records: customers with their orders, three levels deep, with
// optional fields, escapes and non-ASCII text. Everything is drawn from one
// splitmix64 stream, so that any program can make the same bytes.

// draws is the state of a splitmix64 generator (Steele, Lea, Flood, "Fast
// splittable pseudorandom number generators", 2014).
type draws uint64

func scramble(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

func (d *draws) word() uint64 {
	*d += 0x9E3779B97F4A7C15
	return scramble(uint64(*d))
}

// below returns a number in [0, n).
func (d *draws) below(n int) int {
	hi, _ := bits.Mul64(d.word()>>32<<32, uint64(n))
	return int(hi)
}

var (
	orderNames = []string{"ada", "bob", "chen", "dina", "emil", "farah", "gus", "hana", "ivan", "june", "kofi", "lena", "marguerite", "nikolaus", "olu", "priyanka"}
	orderTags  = []string{"new", "vip", "returning", "beta", "eu-west", "us-east", "apac", "trial", "gold", "silver", "bronze", "gift", "b2b", "café", `say \"hi\"`, `J\u00f6rg`}
	orderCats  = []string{"books", "music", "garden", "toys", "sports", "grocery", "beauty", "office", "shoes", "jewelry", "outdoor", "pets", "baby", "tools", "auto", "health", "kitchen", "games", "video", "software", "fabric", "luggage", "watches", "art"}
	orderNotes = []string{"leave at the door", "call before delivery, please", "fragile: handle with care", `gift wrap\nand a card`, `invoice to \"ACME\" Ltd.`, "second floor, left", "no plastic", "weekend only — after ten"}
)

// writeOrders returns the first rows records.
func writeOrders(rows int) []byte {
	var b bytes.Buffer
	d := draws(scramble(1 * 1000003))
	comma := func(i int) {
		if i > 0 {
			b.WriteByte(',')
		}
	}
	degrees := func(v int) {
		sign := ""
		if v < 0 {
			sign, v = "-", -v
		}
		fmt.Fprintf(&b, "%s%d.%04d", sign, v/10000, v%10000)
	}
	for row := range rows {
		user := fmt.Sprintf("%s_%d", orderNames[d.below(16)], d.below(100000))
		fmt.Fprintf(&b, `{"id":%d,"user":"%s","active":%t`, row, user, d.below(2) == 1)
		fmt.Fprintf(&b, `,"score":0.%016d`, d.word()%1e16)
		if d.below(10) < 7 {
			fmt.Fprintf(&b, `,"age":%d`, 18+d.below(80))
		}
		switch e := d.below(10); {
		case e < 5:
			fmt.Fprintf(&b, `,"email":"%s@example.com"`, user)
		case e == 5:
			b.WriteString(`,"email":null`)
		}
		lat, lon := d.below(1800001)-900000, d.below(3600001)-1800000
		b.WriteString(`,"geo":{"lat":`)
		degrees(lat)
		b.WriteString(`,"lon":`)
		degrees(lon)
		b.WriteString(`},"tags":[`)
		for i := range d.below(4) {
			comma(i)
			fmt.Fprintf(&b, `"%s"`, orderTags[d.below(16)])
		}
		b.WriteString(`],"orders":[`)
		for i := range d.below(4) {
			comma(i)
			sku, cat, qty, price := d.below(1<<24), d.below(24), 1+d.below(9), d.below(100000)
			fmt.Fprintf(&b, `{"sku":"SKU-%06X","cat":"%s","qty":%d,"price":%d.%02d`, sku, orderCats[cat], qty, price/100, price%100)
			if d.below(8) == 0 {
				fmt.Fprintf(&b, `,"note":"%s"`, orderNotes[d.below(8)])
			}
			b.WriteString(`,"items":[`)
			for j := range d.below(5) {
				comma(j)
				k := d.below(1000000)
				fmt.Fprintf(&b, `{"k":%d,"w":0.%06d}`, k, d.below(1000000))
			}
			b.WriteString(`]}`)
		}
		b.WriteString("]}\n")
	}
	return b.Bytes()
}

// ordersSchema is the type of the records.
func ordersSchema() *Schema {
	whole, number := NewLeaf(dtype.Int64), NewLeaf(dtype.Float64)
	text, flag := NewLeaf(dtype.String), NewLeaf(dtype.Bool)
	item := NewStruct(SchemaField{"k", whole}, SchemaField{"w", number})
	order := NewStruct(
		SchemaField{"sku", text}, SchemaField{"cat", text}, SchemaField{"qty", whole}, SchemaField{"price", number},
		SchemaField{"note", text.WithMissing(MissingMasked)}, SchemaField{"items", NewList(item)})
	return NewStruct(
		SchemaField{"id", whole}, SchemaField{"user", text}, SchemaField{"active", flag}, SchemaField{"score", number},
		SchemaField{"age", whole.WithMissing(MissingMasked)}, SchemaField{"email", text.WithMissing(MissingMasked)},
		SchemaField{"geo", NewStruct(SchemaField{"lat", number}, SchemaField{"lon", number})},
		SchemaField{"tags", NewList(text)}, SchemaField{"orders", NewList(order)})
}

// The generator makes what other programs' generators of this data make.
func TestOrdersText(t *testing.T) {
	sum := fmt.Sprintf("%x", sha256.Sum256(writeOrders(260)))
	if want := "f133598c16616d38fd8bdc636e6d51552cc0af7500fea6063ffedf0ddf1c7840"; sum != want {
		t.Errorf("sha256 of 260 rows is %s, want %s", sum, want)
	}
}
