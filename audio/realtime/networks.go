package realtime

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/provider"
)

// mediaLimit is how long the media of a call may take to connect after the service's
// answer, if the WebSocket can be used instead. ICE gives up sooner if no packet
// passes.
const mediaLimit = 5 * time.Second

// blockedFor is how long a network counts as blocking media. A call that lasts longer
// connects its successor while it still works, so a retry does not delay the user.
const blockedFor = 10 * time.Minute

// The dial steps that can fail because of the network or the transport even though the service answers.
const (
	stepMedia   = "media"
	stepOffer   = "offer"
	stepCalls   = "calls"
	stepPath    = "network path"
	stepChannel = "data channel"
	stepSocket  = "websocket"
	stepSession = "session.update"
)

// Networks remembers which networks block media, so that a call there uses the
// WebSocket immediately. The zero value is ready to use, and a nil *Networks remembers
// nothing. Its methods are safe for concurrent use.
type Networks struct {
	mu      sync.Mutex
	blocked map[string]time.Time // expiry of the entry, by network
	name    func() string        // of the machine's current network; for tests
}

// here identifies the machine's current network by its addresses, which change with it.
func (n *Networks) here() string {
	if n == nil {
		return ""
	}
	if n.name != nil {
		return n.name()
	}
	addresses, _ := net.InterfaceAddrs() // having no addresses also counts as a network
	var all []string
	for _, a := range addresses {
		if ip, ok := a.(*net.IPNet); ok && ip.IP.IsGlobalUnicast() {
			all = append(all, a.String())
		}
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// order returns the order in which to try the transports: the service's order, but the
// WebSocket first if the network recently blocked media.
func (n *Networks) order(network string, of []provider.Transport) []provider.Transport {
	if n == nil {
		return of
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if !time.Now().Before(n.blocked[network]) {
		return of
	}
	of = slices.Clone(of)
	slices.SortStableFunc(of, func(a, b provider.Transport) int {
		switch {
		case a == b:
			return 0
		case a == provider.WebSocket:
			return -1
		case b == provider.WebSocket:
			return 1
		default:
			return 0
		}
	})
	return of
}

// connected records which transport was established; fallback means that the network
// blocks media. The time counts from the first such call, so that the network is
// eventually retried.
func (n *Networks) connected(network string, fallback bool) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if !fallback {
		delete(n.blocked, network)
		return
	}
	now := time.Now()
	if now.Before(n.blocked[network]) {
		return
	}
	if n.blocked == nil {
		n.blocked = map[string]time.Time{}
	}
	for name, until := range n.blocked {
		if !now.Before(until) {
			delete(n.blocked, name)
		}
	}
	n.blocked[network] = now.Add(blockedFor)
}

// patience limits the connection time of a transport if another one can be tried: it
// leaves half of the time.
func (s *signaller) patience(ctx context.Context) (context.Context, context.CancelFunc) {
	if !s.another {
		return context.WithCancel(ctx)
	}
	limit := cmp.Or(s.cfg.mediaLimit, mediaLimit)
	if deadline, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(deadline)/2)
	}
	return context.WithTimeout(ctx, limit)
}

// otherMayConnect reports whether another transport may work although one failed at
// this step.
func otherMayConnect(step string, failure *Error) bool {
	switch step {
	case stepMedia, stepOffer, stepPath:
		return true
	case stepCalls: // as LocalAI answers without its opus backend
		return failure.Status == http.StatusInternalServerError && failure.RetryAfter == 0
	case stepChannel, stepSocket: // the service may refuse the session as soon as the channel is open
		return ofNetwork(failure)
	default:
		return false
	}
}

// ofNetwork reports whether an error may be caused by the network rather than by the
// service rejecting the caller.
func ofNetwork(e *Error) bool {
	return slices.Contains([]string{CodeConnectionFailed, CodeCallRejected, CodeConnectTimeout, CodeConnectionLost, CodeProtocolError}, e.Code)
}

// worse returns which error of two transports to report: the first, unless the service
// rejected the caller over the second.
func worse(first, second *Error) *Error {
	if first == nil || !ofNetwork(second) {
		return second
	}
	return first
}
