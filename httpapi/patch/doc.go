// Package patch applies JSON patches, merge patches and strategic merge patches to an object, and refuses what kube-apiserver
// 1.37 refuses in the same way. It is pure: bytes and an object in, an object out. It does not validate the result
// (the rooms of the kinds do), does not keep managedFields (httpapi/fieldmanager does), and knows nothing of server-side apply,
// which is no patch but a merge of owners.
package patch
