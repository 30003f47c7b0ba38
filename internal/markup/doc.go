// Package markup writes HTML and SVG in which every text is escaped, and the style that all pages of
// this module share: light and dark, without anything from elsewhere.
package markup
