// Package kubeconfig reads and writes the part of a kubeconfig file that a cluster of ours needs: servers with their
// authority, and users by bearer token or client certificate. It starts no plugin and merges no files.
package kubeconfig

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	clientcmd "k8s.io/client-go/tools/clientcmd/api/v1"
	"sigs.k8s.io/yaml"
)

// Context is one way to reach a server as one user.
type Context struct {
	Name  string
	URL   string
	Token string      // bearer token, "" when the user has none
	TLS   *tls.Config // trust in the server, and the user's certificate if there is one
}

// File is what a kubeconfig holds.
type File struct {
	Current  string
	Contexts []Context // in the file's order
}

// Context returns the context of that name, or the current one for "".
func (f File) Context(name string) (Context, error) {
	name = cmp.Or(name, f.Current)
	for _, context := range f.Contexts {
		if context.Name == name {
			return context, nil
		}
	}
	return Context{}, fmt.Errorf("kubeconfig has no context %q", name)
}

// Nodes returns the contexts named node-K: one for each node, past the balancer.
func (f File) Nodes() []Context {
	var nodes []Context
	for _, context := range f.Contexts {
		if strings.HasPrefix(context.Name, "node-") {
			nodes = append(nodes, context)
		}
	}
	return nodes
}

// Read reads a kubeconfig and the files that it names.
func Read(path string) (File, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return File{}, err
	}
	var raw clientcmd.Config
	if err := yaml.Unmarshal(data, &raw); err != nil {
		return File{}, fmt.Errorf("%s: %w", path, err)
	}
	clusters := map[string]clientcmd.Cluster{}
	for _, named := range raw.Clusters {
		clusters[named.Name] = named.Cluster
	}
	users := map[string]clientcmd.AuthInfo{}
	for _, named := range raw.AuthInfos {
		users[named.Name] = named.AuthInfo
	}
	file := File{Current: raw.CurrentContext}
	for _, named := range raw.Contexts {
		resolve := resolver{dir: filepath.Dir(path)}
		context := resolve.context(named.Name, clusters[named.Context.Cluster], users[named.Context.AuthInfo])
		if resolve.err != nil {
			return File{}, fmt.Errorf("%s: context %s: %w", path, named.Name, resolve.err)
		}
		file.Contexts = append(file.Contexts, context)
	}
	return file, nil
}

// resolver turns a context's texts and files into values, and keeps the first error.
type resolver struct {
	dir string // where relative paths start
	err error
}

func (r *resolver) context(name string, cluster clientcmd.Cluster, user clientcmd.AuthInfo) Context {
	config := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		ServerName:         cluster.TLSServerName,
		InsecureSkipVerify: cluster.InsecureSkipTLSVerify,
	}
	if ca := r.bytes(cluster.CertificateAuthorityData, cluster.CertificateAuthority); len(ca) > 0 {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(ca) {
			r.fail(errors.New("certificate authority is no PEM certificate"))
		}
	}
	cert, key := r.bytes(user.ClientCertificateData, user.ClientCertificate), r.bytes(user.ClientKeyData, user.ClientKey)
	if len(cert) > 0 {
		pair, err := tls.X509KeyPair(cert, key)
		if err != nil {
			r.fail(fmt.Errorf("client certificate: %w", err))
		}
		config.Certificates = []tls.Certificate{pair}
	}
	token := user.Token
	if user.TokenFile != "" {
		token = strings.TrimSpace(string(r.bytes(nil, user.TokenFile)))
	}
	if user.Exec != nil || user.AuthProvider != nil || user.Username != "" {
		r.fail(errors.New("only bearer tokens and client certificates are understood"))
	}
	return Context{Name: name, URL: strings.TrimSuffix(cluster.Server, "/"), Token: token, TLS: config}
}

// bytes returns data, or else what the file holds.
func (r *resolver) bytes(data []byte, file string) []byte {
	if len(data) > 0 || file == "" {
		return data
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(r.dir, file)
	}
	data, err := os.ReadFile(file)
	r.fail(err)
	return data
}

func (r *resolver) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// Server is one server of a file to be written.
type Server struct {
	Name string // of the cluster entry and of the context
	URL  string
}

// Encode returns a kubeconfig with a context for each server, the first one current, all for one user with a token.
func Encode(servers []Server, ca []byte, user, token string) ([]byte, error) {
	if block, _ := pem.Decode(ca); block == nil {
		return nil, errors.New("certificate authority is not PEM")
	}
	raw := clientcmd.Config{
		APIVersion:     "v1",
		Kind:           "Config",
		CurrentContext: servers[0].Name,
		AuthInfos:      []clientcmd.NamedAuthInfo{{Name: user, AuthInfo: clientcmd.AuthInfo{Token: token}}},
	}
	for _, server := range servers {
		raw.Clusters = append(raw.Clusters, clientcmd.NamedCluster{
			Name:    server.Name,
			Cluster: clientcmd.Cluster{Server: server.URL, CertificateAuthorityData: ca},
		})
		raw.Contexts = append(raw.Contexts, clientcmd.NamedContext{
			Name:    server.Name,
			Context: clientcmd.Context{Cluster: server.Name, AuthInfo: user},
		})
	}
	return yaml.Marshal(raw)
}
