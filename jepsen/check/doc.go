// Package check judges a history. Each guarantee has a checker of its own; all share one order of the writes, that of
// resourceVersions, put together from everything that anybody saw. A checker never guesses: what happened to an operation
// without an answer is found out from evidence, or left open.
package check
