// Package markup writes HTML and SVG in which all text is escaped, and the style that all pages of
// this module share: light and dark, without external resources.
package markup
