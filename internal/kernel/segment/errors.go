package segment

import "strconv"

// A RowError reports which entry of a partition, or which index into it, is invalid.
type RowError struct {
	What   string // what was checked: "row splits", "row ids", "row index"
	Row    int    // the position of the first bad entry
	Detail string // what is wrong there
}

// Error returns "row splits: entry 3: 2 comes after 5".
func (e *RowError) Error() string {
	return e.What + ": entry " + strconv.Itoa(e.Row) + ": " + e.Detail
}

func rowError[I Index](what string, row int, have I, detail string) error {
	return &RowError{What: what, Row: row, Detail: strconv.FormatInt(int64(have), 10) + " " + detail}
}
