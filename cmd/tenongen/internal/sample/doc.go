// Package sample has types twice: those in derived are registered as they are, those
// here with code by tenongen. Tests compare the two.
package sample
