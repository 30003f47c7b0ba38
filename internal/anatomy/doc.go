// Package anatomy says what a Value is made of: numbers, lists of something, something of which
// parts are missing, records of fields. Whatever writes or reads Values in a form that others
// have, as JSON, Arrow or messages, walks over them by it, and so has one case for each thing that
// the form can say and none for the types that the library happens to have: a type from outside is
// what its methods say ([ragged.Divided], [masked.Optional]), and otherwise its components side by
// side.
package anatomy
