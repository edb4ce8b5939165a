// Package auth tells who sends a request and whether they may: authentication by client certificate and by static
// bearer token, impersonation, and the few roles there are.
//
// It answers with values and sentinel errors and writes to no client. It never logs and never repeats in an error what
// a token file or an Authorization header holds. What it knows is read once at the start; it runs no goroutines.
package auth
