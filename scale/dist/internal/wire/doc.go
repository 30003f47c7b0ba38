// Package wire is what package dist requires of a transport of bytes among ranks.
package wire
