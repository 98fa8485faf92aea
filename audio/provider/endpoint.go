package provider

import (
	"net"
	"net/http"
	"net/url"
	"strings"
)

// Base is the URL that the paths of the API are put behind, such as "/audio/speech", or
// what is wrong with the one that was given. Base URLs are commonly given with the
// API's prefix, which is not doubled. The problem does not repeat the URL: it may hold
// a user's key.
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

// Authorize puts a key into the header of a request. token says that it is a bearer
// token from another issuer, such as Microsoft Entra ID, rather than the provider's key.
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
