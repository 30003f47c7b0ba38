// Package memory limits the memory of a result. Operations whose result may be far larger than
// their operands, such as joins and products, know its size in advance and reject it, where the Go
// runtime would end the process.
package memory
