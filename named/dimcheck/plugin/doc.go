// Package plugin makes dimcheck a linter of golangci-lint, as a module plugin: a build of
// golangci-lint that imports this package has it. golangci-lint custom makes one, from a
// file .custom-gcl.yml:
//
//	version: v2.15.0
//	plugins:
//	  - module: github.com/tenonml/tenon
//	    import: github.com/tenonml/tenon/named/dimcheck/plugin
//	    version: latest
//
// and .golangci.yml turns it on:
//
//	version: "2"
//	linters:
//	  enable: [dimcheck]
//	  settings:
//	    custom:
//	      dimcheck:
//	        type: module
//	        description: dimensions of named tensors
//
// Stability: experimental.
package plugin
