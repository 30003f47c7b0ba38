// Package jsonpath parses path expressions as defined by RFC 9535, and conditions on elements. It
// does not depend on what they are evaluated on.
package jsonpath
