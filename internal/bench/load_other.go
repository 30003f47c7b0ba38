//go:build !linux

package main

// load measures nothing on this system.
type load struct{}

func startLoad() load        { return load{} }
func (load) others() float64 { return 0 }
func pageFaults() int64      { return 0 }
func pin() error             { return nil }

func residentBytes() (now, peak int64) { return 0, 0 }
