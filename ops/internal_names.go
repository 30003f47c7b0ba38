package ops

// stringNames are the Go functions of string operations, which are registered under the
// names that TensorFlow has for them. Errors show the functions.
var stringNames = map[string]string{
	"strings.bytes_split": "ops.StringBytes", "strings.hash": "ops.StringHash", "strings.length": "ops.StringLength",
	"strings.lower": "ops.StringLower", "strings.regex_full_match": "ops.StringRegexFullMatch",
	"strings.regex_replace": "ops.StringRegexReplace", "strings.split": "ops.StringSplit", "strings.strip": "ops.StringStrip",
	"strings.to_number": "ops.StringToNumber", "strings.unicode_decode": "ops.StringDecode", "strings.unicode_split": "ops.StringChars",
	"strings.unicode_transcode": "ops.StringTranscode", "strings.upper": "ops.StringUpper",
}
