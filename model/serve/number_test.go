package serve

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/tenonml/tenon/dtype"
)

// FuzzNumbers compares columns of a number, alone and among others, with what encoding/json and strconv say.
func FuzzNumbers(f *testing.F) {
	for _, text := range []string{"0", "-0", "1", "-1.5", "0.1", "1e3", "1E-3", "9007199254740993", "16777217", "1.00000005960464477540", "3.4028235677973366e38",
		"1e-46", "1e-45", "5e-324", "1e308", "1e309", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "2147483648", "-2147483648", "01", "1.", ".5", "-", "1e", "1e+",
		"12345678901234567890", "0.00000000000000000000000001", "1e22", "1e23", "123456789012345678e-22", "1e0000001", "1.0", "2e0"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1000 { // some are refused for their length
			return
		}
		end := numberEnd(text, 0)
		if whole := end > 0 && end == len(text); whole != (json.Valid([]byte(text)) && text[0] != '"' && (text[0] == '-' || text[0]-'0' <= 9) && text[len(text)-1] > ' ') {
			t.Fatalf("%q: a number up to %d", text, end)
		} else if !whole {
			return
		}
		for _, dt := range []dtype.DType{dtype.Float64, dtype.Float32, dtype.Int64, dtype.Int32} {
			at := elements{dt: dt}
			c := listText(t, "[7,"+text+",7]").cursor()
			taken := c.numbers(&at)
			byRule := elements{dt: dt}
			err := byRule.number(number(text), label("x"), style{})
			switch taken {
			case 3:
				if size := dt.Size(); err != nil || string(at.bytes[size:2*size]) != string(byRule.bytes) {
					t.Errorf("%q as %v is %x, want %x, %v", text, dt, at.bytes, byRule.bytes, err)
				}
			case 1: // it is left to strconv
			default:
				t.Errorf("%q as %v: %d of three numbers are taken", text, dt, taken)
			}
			if want, wrong := strconv.ParseFloat(text, 64); dt == dtype.Float64 && (err == nil) != (wrong == nil) {
				t.Errorf("%q: %v, want %v, %v", text, err, want, wrong)
			}
		}
	})
}

// listText returns a list of JSON.
func listText(t *testing.T, text string) *list {
	x, err := parseJSON([]byte(text), 10, false)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return x.(*list)
}
