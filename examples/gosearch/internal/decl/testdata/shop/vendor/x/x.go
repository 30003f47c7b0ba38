package x

// Hidden is in a folder that is left out.
func Hidden() {}
