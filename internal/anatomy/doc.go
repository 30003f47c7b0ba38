// Package anatomy describes the structure of Values: numbers, lists of something, something with
// missing parts, records of fields. Code that reads or writes Values in other formats, such as
// JSON, Arrow or messages, traverses them by their structure, so that it has one case for each
// construct of the format and none for the specific types of the library: a type defined elsewhere
// has the structure that its methods declare ([ragged.Divided], [masked.Optional]), or otherwise
// consists of its components.
package anatomy
