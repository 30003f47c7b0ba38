// Package browser shows pages in a real browser, for tests.
package browser
