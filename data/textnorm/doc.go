// Package textnorm brings strings into the normal forms of Unicode, so that equal
// texts have equal bytes: "é" may be one code point or two, and "ﬁ" one or two
// letters (Unicode Standard Annex #15, https://www.unicode.org/reports/tr15/).
//
//	y := textnorm.Normalize(x, textnorm.NFC)
//
// It is the operation strings.normalize, apart from the others on strings because
// it needs the tables of golang.org/x/text.
//
// Stability: experimental.
package textnorm
