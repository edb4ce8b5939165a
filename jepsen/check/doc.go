// Package check judges a history. Each guarantee has a checker of its own; all share one log of the changes, in the order of
// resourceVersions, put together from everything that anybody saw (merge). A checker never guesses: what happened to an
// operation without an answer is found out from evidence, or left open, and what depends on it is then not judged.
//
// As the order of changes is known, each checker is one pass: whether reads and writes are linearizable is decided without a
// search (zones), lists and watches are held against the state that the log gives at their revision. A part of the history
// is also given to another's checker, which does search and knows nothing of that order (judgeLinear).
//
// The package changes nothing in a history and starts no goroutine.
package check
