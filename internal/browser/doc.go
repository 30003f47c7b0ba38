// Package browser shows pages in a real browser and uses them, for tests.
package browser
