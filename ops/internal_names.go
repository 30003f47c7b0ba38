package ops

// stringNames maps string operations, which are registered under TensorFlow's names, to the Go
// functions that errors show.
var stringNames = map[string]string{
	"strings.bytes_split": "ops.StringBytes", "strings.hash": "ops.StringHash", "strings.length": "ops.StringLength",
	"strings.lower": "ops.StringLower", "strings.regex_full_match": "ops.StringRegexFullMatch",
	"strings.regex_replace": "ops.StringRegexReplace", "strings.split": "ops.StringSplit", "strings.strip": "ops.StringStrip",
	"strings.to_number": "ops.StringToNumber", "strings.unicode_decode": "ops.StringDecode", "strings.unicode_split": "ops.StringChars",
	"strings.unicode_transcode": "ops.StringTranscode", "strings.upper": "ops.StringUpper",
}
