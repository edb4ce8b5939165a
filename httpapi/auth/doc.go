// Package auth tells who sends a request and whether they may: authentication by client certificate and by static
// bearer token, impersonation, and the one rule there is so far.
//
// It answers with values and sentinel errors and writes to no client. It never logs and never repeats in an error what
// a token file or a header holds. What it knows is read once at the start; it runs no goroutines.
package auth
