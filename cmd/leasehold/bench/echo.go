package bench

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// greeting is the first and only line that an echo server prints.
type greeting struct {
	Address     string `json:"address"`
	Certificate string `json:"certificate"` // PEM, of the server itself
}

// serveEcho is the yardstick: a bare Go HTTPS server that reads a body and sends it back. It stops when in ends.
func serveEcho(in io.Reader, out io.Writer) error {
	certificate, encoded, err := selfSigned()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		body := make([]byte, max(r.ContentLength, 0))
		if _, err := io.ReadFull(r.Body, body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", r.Header.Get("Content-Type"))
		_, _ = w.Write(body) // fails when the client is gone
	})
	server := &http.Server{
		Handler:           mux,
		TLSConfig:         &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{certificate}},
		ReadHeaderTimeout: 10 * time.Second,
	}
	go func() {
		_, _ = io.Copy(io.Discard, in)
		server.Close()
	}()
	if err := json.NewEncoder(out).Encode(greeting{listener.Addr().String(), string(encoded)}); err != nil {
		return err
	}
	if err := server.ServeTLS(listener, "", ""); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// selfSigned makes a certificate with the same kind of key as a development cluster's nodes have.
func selfSigned() (tls.Certificate, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "echo"},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(24 * time.Hour),
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	encoded := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, encoded, nil
}

// startEcho starts the echo server as a process of its own, so that its CPU can be told from the client's, and returns
// it as a target. stop ends it.
func startEcho(ctx context.Context) (target Target, stop func() error, err error) {
	binary, err := os.Executable()
	if err != nil {
		return Target{}, nil, err
	}
	child := exec.CommandContext(ctx, binary, "bench", echoServerName)
	child.Stderr = os.Stderr
	stdin, err := child.StdinPipe()
	if err != nil {
		return Target{}, nil, err
	}
	stdout, err := child.StdoutPipe()
	if err != nil {
		return Target{}, nil, err
	}
	if err := child.Start(); err != nil {
		return Target{}, nil, fmt.Errorf("start the echo server: %w", err)
	}
	stop = func() error { return errors.Join(stdin.Close(), child.Wait()) }

	var hello greeting
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &hello)
	}
	pool := x509.NewCertPool()
	if err == nil && !pool.AppendCertsFromPEM([]byte(hello.Certificate)) {
		err = errors.New("no certificate")
	}
	if err != nil {
		return Target{}, nil, errors.Join(fmt.Errorf("greeting of the echo server: %w", err), stop())
	}
	return Target{
		URLs: []string{"https://" + hello.Address},
		TLS:  &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool},
	}, stop, nil
}
