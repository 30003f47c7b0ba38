// Package wire is what package dist needs of whatever carries bytes among ranks.
package wire
