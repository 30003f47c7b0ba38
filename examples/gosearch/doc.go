// Command gosearch finds Go functions by what they do.
//
//	gosearch index                        read the standard library's source
//	gosearch index ./... std              or that of other folders and modules
//	gosearch index -questions FILE std    and what people ask for its functions
//	gosearch train                        learn from it, keep a model and a report
//	gosearch "read a file line by line"   ask; -json for programs, -all for what cannot be imported
//	gosearch serve                        ask in a browser
//	gosearch eval                         how well held-out functions are found, and people's questions answered
//
// It keeps what it knows in one folder (-dir, or $GOSEARCH_DIR, else a folder
// of the user's cache). A run of training that was interrupted goes on where it was.
package main
