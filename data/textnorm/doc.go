// Package textnorm converts strings to the normal forms of Unicode, so that equivalent texts have
// equal bytes: "é" may be one code point or two, and "ﬁ" one or two letters (Unicode Standard Annex
// #15, https://www.unicode.org/reports/tr15/).
//
//	y := textnorm.Normalize(x, textnorm.NFC)
//
// It defines the operation strings.normalize. It is separate from the other string
// operations because it needs the tables of golang.org/x/text.
//
// Stability: experimental.
package textnorm
