// Package element defines the element types of files and databases other than numbers and strings:
// timestamps, dates, times of day, durations, decimals, fixed-size binary data and UUIDs.
//
//	at := tenon.Must(element.Parse([]string{"2024-02-29T10:00:00Z", "2024-03-01T09:30:00Z"}, element.TimestampOf(time.Second, "UTC")))
//	took := ops.Sub(ops.Index(at, 1), ops.Index(at, 0)) // duration[s]
//	days := element.Truncate(at, element.Day)
//
// A [Tensor] is a tensor of numbers or strings together with a [Type] that says what they mean. It is a type of
// Value that could be defined outside of this module (op.Formed): what an operation does with it follows from the operation's statement.
// Operations that move, compare, sort, group or select elements work on all types, in ragged and masked tensors,
// in fields of records and in traces. Operands are converted to a common unit or scale first.
//
// A difference of timestamps is a duration, and a timestamp plus a duration is a timestamp. Durations can be multiplied
// and divided by numbers. Sums of decimals keep their scale. Means of decimals, and quotients
// with integers, have up to four more digits and are rounded to nearest, with halves away from zero. A result that does not exist,
// such as the mean of no elements, is the smallest stored number, like NumPy's NaT. An operation without a meaning for a type
// is an error that suggests a repair.
//
// If rows have different lengths or elements are missing, the ragged or masked tensor is the outer one, and its
// values are a Tensor; [New] and [Parse] return it that way.
//
// # Storage
//
//	timestamp, duration, time of day  int64, in the unit; timestamps since 1970 in UTC, or in local time without a zone
//	date                              int32, days since 1970
//	decimal                           int64, times 10^scale; two int64 where it has more than 18 digits
//	fixed, uuid                       strings
//
// Stability: experimental.
package element
