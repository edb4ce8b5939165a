package httpapi

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"testing"
)

// TestMain runs the tests; or, with LEASEHOLD_TEST_SERVE set to an address, serves a door over one node there until it
// is killed, for tools that want to look at the door alone.
func TestMain(m *testing.M) {
	address := os.Getenv("LEASEHOLD_TEST_SERVE")
	if address == "" {
		os.Exit(m.Run())
	}
	if err := serve(address); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(address string) error {
	handler, err := New(Config{Authenticator: knownTokens()}, newOneNode(new(testing.T)))
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	certified := httptest.NewTLSServer(nil) // for its certificate alone
	certified.Close()
	fmt.Println("serving on", listener.Addr(), "with tokens", adminToken, "and", userToken)
	return NewHTTPServer(handler, &tls.Config{Certificates: certified.TLS.Certificates}, nil).ServeTLS(listener, "", "")
}
