// Package fieldmanager keeps metadata.managedFields: who owns which field of a Lease. It does so on create, update and
// patch (operation Update) and merges server-side apply (operation Apply), with the library that kube-apiserver 1.37 uses.
//
// Objects passed as current are never changed. The clock is an argument; times are whole seconds.
package fieldmanager
