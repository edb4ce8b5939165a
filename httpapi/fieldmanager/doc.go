// Package fieldmanager keeps metadata.managedFields: who owns which field of an object. It does so on create, update and
// patch (operation Update) and merges server-side apply (operation Apply), with the library that kube-apiserver 1.37 uses.
//
// Objects passed as current are never changed. The clock is an argument; times are whole seconds.
//
// The library costs about a hundred microseconds, and most writes are renewals that change no ownership at all.
// renewal.go answers those; without that file every result would be the same.
package fieldmanager
