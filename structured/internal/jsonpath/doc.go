// Package jsonpath reads path expressions, as RFC 9535 has them, and conditions on elements.
// It knows nothing of what they are evaluated on.
package jsonpath
