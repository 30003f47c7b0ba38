// Package sample has types twice: those in derived are registered without generated code, those
// here with code from tenongen. Tests compare the two.
package sample
