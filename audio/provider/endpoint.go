package provider

import (
	"net"
	"net/http"
	"net/url"
	"strings"
)

// Base returns the URL to which the API's paths, such as "/audio/speech", are appended,
// or a description of what is wrong with the given URL. Base URLs commonly already
// include the API's prefix, which is then not added twice. The problem does not quote
// the URL, which may contain a user's key.
func (r Row) Base(given string) (base, problem string) {
	if given == "" {
		given = r.Home
	}
	u, err := url.Parse(given)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.User != nil || u.RawQuery != "" {
		return "", "the base URL is not usable; give scheme, host and path only, such as https://api.openai.com"
	}
	if u.Scheme == "http" && !r.PlainHTTP && !isLoopback(u.Hostname()) {
		return "", "the base URL would send the key unencrypted; use https"
	}
	s := strings.TrimSuffix(strings.TrimRight(u.String(), "/"), r.Prefix)
	if parent, _, nested := strings.Cut(r.Prefix[1:], "/"); nested {
		s = strings.TrimSuffix(s, "/"+parent)
	}
	return s + r.Prefix, ""
}

// OnThisMachine reports whether a base URL is an address of this machine.
func OnThisMachine(base string) bool {
	u, err := url.Parse(base)
	return err == nil && isLoopback(u.Hostname())
}

// Authorize adds a key to a request header. token means that it is a bearer token from
// another issuer, such as Microsoft Entra ID, rather than the provider's key.
func (r Row) Authorize(h http.Header, key string, token bool) {
	switch {
	case key == "":
	case r.KeyHeader != "" && !token:
		h.Set(r.KeyHeader, key)
	default:
		h.Set("Authorization", "Bearer "+key)
	}
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// AtHome reports whether an endpoint, or the default one if it is "", is the service's own address.
func (r Row) AtHome(endpoint string) bool {
	home, _ := r.Base("")
	base, problem := r.Base(endpoint)
	return r.Home != "" && problem == "" && base == home
}
