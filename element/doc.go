// Package element has the types of elements that files and databases have beside numbers and strings:
// timestamps, dates, times of day, durations, decimals, binary data of a fixed size and UUIDs.
//
//	at := tenon.Must(element.Parse([]string{"2024-02-29T10:00:00Z", "2024-03-01T09:30:00Z"}, element.TimestampOf(time.Second, "UTC")))
//	took := ops.Sub(ops.Index(at, 1), ops.Index(at, 0)) // duration[s]
//	days := element.Truncate(at, element.Day)
//
// A [Tensor] is numbers or strings and what they mean, a [Type]. It is a type of Value as anybody could write
// one (op.Formed): what an operation does to it follows from the operation's statement. Whatever
// moves, compares, sorts, groups or picks elements works on all of them, in ragged and masked tensors, in fields of records and in traces;
// units and scales are made one before. A difference of timestamps is a duration, a timestamp and a duration are a
// timestamp, durations are multiplied and divided by numbers, and sums of decimals keep their scale; means of decimals, and quotients
// with integers, have up to four digits more, and are rounded to the nearest with halves away from zero. What says
// "nothing", such as a mean of no elements, is the least number that is stored, as it is NumPy's NaT. What has no meaning is
// an error that says what to do.
//
// Where rows have different lengths or elements are missing, the ragged or masked tensor stands outside, and its
// values are a Tensor: [New] and [Parse] see to it.
//
// # What is stored
//
//	timestamp, duration, time of day  int64, in the unit; timestamps since 1970 in UTC, or in local time without a zone
//	date                              int32, days since 1970
//	decimal                           int64, times 10^scale; two int64 where it has more than 18 digits
//	fixed, uuid                       strings
//
// Stability: experimental.
package element
