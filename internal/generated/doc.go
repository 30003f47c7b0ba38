// Package generated keeps files that tests write: pages of docs, and code.
package generated
