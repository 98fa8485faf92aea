package realtime

import (
	"context"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/provider"
)

// mediaLimit is how long the media of a call may take to connect, from the service's
// answer on, where the WebSocket can be used instead. ICE gives up sooner when no packet
// passes.
const mediaLimit = 5 * time.Second

// blockedFor is how long a network counts as one that lets no media through. A call that
// lasts longer finds its successor's way while it still works, so that trying again
// costs the user nothing.
const blockedFor = 10 * time.Minute

// The steps of a dial that can fail because of the network although the service answers.
const (
	stepMedia   = "media"
	stepOffer   = "offer"
	stepPath    = "network path"
	stepChannel = "data channel"
	stepSocket  = "websocket"
	stepSession = "session.update"
)

// Networks remembers on which networks no media passes, so that a call there goes over
// the WebSocket at once. The zero value is ready, and nil remembers nothing. Its methods
// are safe for concurrent use.
type Networks struct {
	mu      sync.Mutex
	blocked map[string]time.Time // until when, by network
	name    func() string        // of the network that this machine is in; for tests
}

// here names the network that this machine is in: by its addresses, which change with it.
func (n *Networks) here() string {
	if n == nil {
		return ""
	}
	if n.name != nil {
		return n.name()
	}
	addresses, _ := net.InterfaceAddrs() // none is a network, too
	var all []string
	for _, a := range addresses {
		if ip, ok := a.(*net.IPNet); ok && ip.IP.IsGlobalUnicast() {
			all = append(all, a.String())
		}
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// order is in which order the transports of a service are tried: as the service has
// them, but the WebSocket first where no media passed the network lately.
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

// connected notes which transport stands: fallback is for a network without media. It
// counts from the first such call on, so that the network is tried again in time.
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

// patience bounds the connection of a transport where another one can be tried: it
// leaves half of the time.
func (s *signaller) patience(ctx context.Context) (context.Context, context.CancelFunc) {
	if !s.another {
		return context.WithCancel(ctx)
	}
	limit := mediaLimit
	if deadline, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(deadline)/2)
	}
	return context.WithTimeout(ctx, limit)
}

// otherMayConnect says whether the failure of a transport at a step says nothing of
// another one.
func otherMayConnect(step string, failure *Error) bool {
	switch step {
	case stepMedia, stepOffer, stepPath, stepChannel:
		return true
	case stepSocket:
		return ofNetwork(failure)
	default:
		return false
	}
}

// ofNetwork says whether an error may be one of the network, rather than the service's
// judgement of the caller.
func ofNetwork(e *Error) bool {
	return slices.Contains([]string{CodeConnectionFailed, CodeConnectTimeout, CodeConnectionLost, CodeProtocolError}, e.Code)
}

// worse is which of the errors of two transports to report: that of the first, unless
// the service judged the caller over the second.
func worse(first, second *Error) *Error {
	if first == nil || !ofNetwork(second) {
		return second
	}
	return first
}
