// Package plugin makes dimcheck available as a module plugin of golangci-lint. Create a build of
// golangci-lint with the plugin by golangci-lint custom and a file .custom-gcl.yml:
//
//	version: v2.15.0
//	plugins:
//	  - module: github.com/tenonml/tenon
//	    import: github.com/tenonml/tenon/named/dimcheck/plugin
//	    version: latest
//
// Then enable it in .golangci.yml:
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
