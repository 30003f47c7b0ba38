// Package parts walks a model part by part, where package nest walks it leaf by leaf.
package parts
