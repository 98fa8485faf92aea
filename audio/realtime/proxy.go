package realtime

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/proxy"
)

// proxyTimeout limits the connection through a proxy.
const proxyTimeout = 10 * time.Second

// proxyDialer connects to TURN servers over TCP, through a proxy if required.
type proxyDialer struct {
	proxy func(*url.URL) (*url.URL, error)
}

// newProxyDialer returns nil if all connections are direct. They are also direct with a
// turns server, because pion leaves TLS to the dialer, which does not know the scheme.
func newProxyDialer(cfg Config) proxy.Dialer {
	secure := slices.ContainsFunc(cfg.TURN.URLs, func(u string) bool { return strings.HasPrefix(u, "turns:") })
	if cfg.Proxy == nil || len(cfg.TURN.URLs) == 0 || secure {
		return nil
	}
	return proxyDialer{cfg.Proxy}
}

// Dial implements proxy.Dialer.
func (d proxyDialer) Dial(_, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), proxyTimeout)
	defer cancel()
	via, err := d.proxy(&url.URL{Scheme: "https", Host: address})
	switch {
	case err != nil:
		return nil, err
	case via == nil:
		return (&net.Dialer{}).DialContext(ctx, "tcp", address)
	case via.Scheme == "socks5":
		socks, err := proxy.FromURL(via, proxy.Direct)
		if err != nil {
			return nil, err
		}
		return socks.(proxy.ContextDialer).DialContext(ctx, "tcp", address)
	default:
		return tunnel(ctx, via, address)
	}
}

// maxProxyAnswer limits the header of a proxy's answer, in bytes.
const maxProxyAnswer = 64 << 10

// tunnel connects through an HTTP proxy (RFC 9110, section 9.3.6).
func tunnel(ctx context.Context, via *url.URL, address string) (net.Conn, error) {
	conn, err := dialProxy(ctx, via)
	if err != nil {
		return nil, err
	}
	deadline, _ := ctx.Deadline()
	_ = conn.SetDeadline(deadline)
	req := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: address}, Host: address, Header: http.Header{}}
	if u := via.User; u != nil {
		password, _ := u.Password()
		r := http.Request{Header: http.Header{}}
		r.SetBasicAuth(u.Username(), password)
		req.Header.Set("Proxy-Authorization", r.Header.Get("Authorization"))
	}
	err = req.Write(conn)
	var res *http.Response
	if err == nil {
		// The server sends nothing before the client, so the reader buffers no data
		// beyond the response.
		res, err = http.ReadResponse(bufio.NewReader(io.LimitReader(conn, maxProxyAnswer)), req)
	}
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("the proxy answered %d", res.StatusCode)
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, conn.SetDeadline(time.Time{})
}

// dialProxy connects to an HTTP proxy, using TLS if its URL says so.
func dialProxy(ctx context.Context, via *url.URL) (net.Conn, error) {
	port := via.Port()
	if via.Scheme == "https" {
		d := tls.Dialer{Config: &tls.Config{ServerName: via.Hostname()}}
		return d.DialContext(ctx, "tcp", net.JoinHostPort(via.Hostname(), cmp.Or(port, "443")))
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(via.Hostname(), cmp.Or(port, "80")))
}
