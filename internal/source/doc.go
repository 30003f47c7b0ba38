// Package source finds the user's line on the call stack: the first caller that is not part of this
// module's library code.
package source
