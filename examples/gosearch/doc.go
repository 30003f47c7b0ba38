// Command gosearch finds Go functions by what they do.
//
//	gosearch index            read the standard library's source
//	gosearch eval -bm25       say how well BM25 finds its functions
//
// It keeps what it knows in one folder (-dir, or $GOSEARCH_DIR, else a folder
// of the user's cache).
package main
