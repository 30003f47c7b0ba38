// Package elements writes structures of Values as bytes and reads them: what a cache of a dataset
// keeps, and what ranks send to each other. Values of every type are written as their Spec and the
// tensors that they come apart into, plain Go data beside them as JSON. What is read is not
// trusted.
package elements
