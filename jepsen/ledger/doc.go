// Package ledger is the account of everything that was tried on the product: one line of JSON a run, written by the tool,
// and a page made from the lines.
//
// Each line ends with a hash over itself and the hash of the line before, so that a line that is changed, moved or taken out
// later is noticed. The last lines alone could be cut off unseen, were it not for the page, which is made from all of them and
// is held equal by a test. The hash is no signature: it guards against mistakes and against tidying up.
//
// Figures count on committed code only. What ran with uncommitted changes is in the account, marked, and counts nowhere.
package ledger
