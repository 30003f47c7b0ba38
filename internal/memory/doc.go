// Package memory says how much memory a result may take: operations whose result is far
// larger than what they are given, as joins and products are, know its size beforehand
// and refuse it, where the Go runtime would end the process.
package memory
