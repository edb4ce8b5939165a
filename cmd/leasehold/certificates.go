package main

import (
	"crypto/tls"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// certificates serves a key pair from two files and takes a changed pair up without a restart.
type certificates struct {
	certFile, keyFile string
	logger            hclog.Logger

	mu      sync.Mutex // guards what follows
	current *tls.Certificate
	looked  time.Time // when the files were last looked at
	changed time.Time // the newer of the files' times when current was read
}

// lookEvery is how long a changed file may go unnoticed.
const lookEvery = 10 * time.Second

func openCertificates(certFile, keyFile string, logger hclog.Logger) (*certificates, error) {
	c := &certificates{certFile: certFile, keyFile: keyFile, logger: logger}
	return c, c.read(c.lastChange())
}

// forHandshake has the signature of tls.Config.GetCertificate.
func (c *certificates) forHandshake(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.looked) >= lookEvery {
		c.looked = time.Now()
		if changed := c.lastChange(); !changed.Equal(c.changed) {
			c.reread(changed)
		}
	}
	return c.current, nil
}

// reread keeps the pair at hand if the files cannot be used: they may be half replaced, and are looked at again.
func (c *certificates) reread(changed time.Time) {
	if err := c.read(changed); err != nil {
		c.logger.Warn("changed certificate cannot be used yet", "file", c.certFile, "error", err)
		return
	}
	c.logger.Info("serving with a changed certificate", "file", c.certFile)
}

func (c *certificates) read(changed time.Time) error {
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return err
	}
	c.current, c.changed, c.looked = &pair, changed, time.Now()
	return nil
}

func (c *certificates) lastChange() time.Time {
	var newest time.Time
	for _, file := range []string{c.certFile, c.keyFile} {
		if info, err := os.Stat(file); err == nil && info.ModTime().After(newest) {
			newest = info.ModTime()
		}
	}
	return newest
}
