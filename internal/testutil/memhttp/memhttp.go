// Package memhttp serves HTTP over connections in memory, so that a service and its client
// can run in a bubble of testing/synctest: timeouts take no real time, and a busy machine
// does not exceed them.
//
// # The caller's loop
//
//	synctest.Test(t, func(t *testing.T) {
//		client := memhttp.Serve(t, handler)
//		res, err := client.Get(memhttp.URL + "/path")
//	})
//
// # Invariants
//
// All goroutines of the server and the client have ended when the test's cleanup is over,
// unless a handler ignores the context of its request.
package memhttp

import (
	"context"
	"net"
	"net/http"
	"sync"
	"testing"
)

// URL is the base URL of each service. Its address is not used, but counts as loopback.
const URL = "http://127.0.0.1"

// Serve runs the handler until the end of the test, and returns a client for it.
func Serve(t testing.TB, handler http.Handler) *http.Client {
	ln := &listener{conns: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{Handler: handler}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(ln) })
	transport := &http.Transport{DialContext: ln.dial}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = server.Close()
		serving.Wait()
	})
	return &http.Client{Transport: transport}
}

// listener is a net.Listener for one end of a net.Pipe each.
type listener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *listener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements net.Listener.
func (l *listener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }
