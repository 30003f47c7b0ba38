//go:build ignore

package main

// main writes a table.
func main() {}
