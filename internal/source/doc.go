// Package source finds the user's own line on the stack: the first caller that
// is not part of this module's library code.
package source
