// Package browser opens pages in a real browser and interacts with them, for tests.
package browser
