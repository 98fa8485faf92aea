//go:build cgo

package live

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio/realtime"
	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// dials is a link whose service refuses every dial, on a virtual clock.
type dials struct {
	*link
	answer func(n int) (status int, header, body string) // to the n-th request, from 1
	begin  time.Time
	at     []time.Duration // of the requests
	posted []csm.Event
	posts  []time.Duration
}

// RoundTrip implements http.RoundTripper.
func (d *dials) RoundTrip(r *http.Request) (*http.Response, error) {
	d.at = append(d.at, time.Since(d.begin))
	status, header, body := d.answer(len(d.at))
	if status == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	res := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}
	if name, value, ok := strings.Cut(header, ": "); ok {
		res.Header.Set(name, value)
	}
	return res, nil
}

func newDials(t *testing.T, answer func(n int) (int, string, string)) *dials {
	set := protocol.DefaultSettings()
	set.Provider = protocol.ProviderOpenAI
	d := &dials{answer: answer, begin: time.Now()}
	post := func(e csm.Event) { d.posted, d.posts = append(d.posted, e), append(d.posts, time.Since(d.begin)) }
	w := &World{
		cfg: Config{
			Credentials: func(context.Context, protocol.Provider) (realtime.Credential, error) {
				return realtime.Credential{Value: "sk-users", Kind: realtime.APIKey}, nil
			},
			Instrument: func(cfg *realtime.Config) { cfg.HTTPClient = &http.Client{Transport: d} },
		},
		port: daemon.Port{
			Post: post, Fail: func(e csm.Event, _ string) { post(e) }, Settings: func() protocol.Settings { return set },
			Overload: func(what string) { t.Error(what) },
		},
	}
	w.service, w.devices = newService(w), &devices{}
	d.link = newLink(w)
	t.Cleanup(func() {
		d.shut()
		if err := w.service.shut(); err != nil {
			t.Error(err)
		}
	})
	return d
}

const ms = time.Millisecond

// An unreachable service is dialled six times, after 200 ms and then twice as long each
// time, or later if it asks for that, but not beyond the time that the core waits for
// the call. If the conversation had a call, it is redialled for all of that time, at
// least every 5 s. After a permanent refusal it is not redialled. Each dial ends with
// one event. The times are exact, because the clock is virtual.
func TestDialsWaitTwiceAsLongEachTime(t *testing.T) {
	refuse := func(status int, header, body string) func(int) (int, string, string) {
		return func(int) (int, string, string) { return status, header, body }
	}
	start := protocol.DefaultSettings().Conversation.StartTimeout
	for name, c := range map[string]struct {
		answer    func(int) (int, string, string)
		successor bool
		stood     bool // the conversation had a call before
		at        []time.Duration
		code      csm.Code
	}{
		"unreachable":                           {answer: refuse(0, "", ""), at: []time.Duration{0, 200 * ms, 600 * ms, 1400 * ms, 3000 * ms, 6200 * ms}, code: csm.CodeConnectionFailed},
		"broken":                                {answer: refuse(503, "", ""), at: []time.Duration{0, 200 * ms, 600 * ms, 1400 * ms, 3000 * ms, 6200 * ms}, code: csm.CodeConnectionFailed},
		"a successor":                           {answer: refuse(503, "", ""), successor: true, at: []time.Duration{0, 200 * ms, 600 * ms, 1400 * ms, 3000 * ms, 6200 * ms}, code: csm.CodeConnectionFailed},
		"asks for 1 s":                          {answer: refuse(429, "Retry-After: 1", ""), at: []time.Duration{0, 1000 * ms, 2000 * ms, 3000 * ms, 4600 * ms, 7800 * ms}, code: csm.CodeRateLimited},
		"asks for 300 ms":                       {answer: refuse(429, "Retry-After-Ms: 300", ""), at: []time.Duration{0, 300 * ms, 700 * ms, 1500 * ms, 3100 * ms, 6300 * ms}, code: csm.CodeRateLimited},
		"asks for longer than a start may take": {answer: refuse(429, fmt.Sprintf("Retry-After: %d", 1+int(start.Seconds())), ""), at: []time.Duration{0}, code: csm.CodeRateLimited},
		"asks for longer, of a conversation that stood": {
			answer: refuse(429, fmt.Sprintf("Retry-After: %d", 1+int(start.Seconds())), ""), stood: true,
			at: func() (at []time.Duration) {
				for i := range time.Duration(dialAttempts) {
					at = append(at, i*(start.Truncate(time.Second)+time.Second))
				}
				return at
			}(), code: csm.CodeRateLimited,
		},
		"unreachable, of a conversation that stood": {
			answer: refuse(0, "", ""), stood: true,
			at: func() []time.Duration {
				at := []time.Duration{0, 200 * ms, 600 * ms, 1400 * ms, 3000 * ms, 6200 * ms}
				for t := 11200 * ms; t < protocol.DefaultSettings().Suspend.Max; t += 5 * time.Second {
					at = append(at, t)
				}
				return at
			}(), code: csm.CodeConnectionFailed,
		},
		"asks a successor for 8 s":               {answer: refuse(429, "Retry-After: 8", ""), successor: true, at: []time.Duration{0, 8000 * ms}, code: csm.CodeRateLimited},
		"no quota":                               {answer: refuse(429, "Retry-After: 1", `{"error":{"code":"insufficient_quota"}}`), at: []time.Duration{0}, code: csm.CodeQuotaExceeded},
		"wrong address":                          {answer: refuse(404, "", ""), at: []time.Duration{0}, code: csm.CodeCallRejected},
		"rejected, of a conversation that stood": {answer: refuse(404, "", ""), stood: true, at: []time.Duration{0}, code: csm.CodeConnectionFailed},
		"wrong key":                              {answer: refuse(401, "", ""), at: []time.Duration{0}, code: csm.CodeAuthentication},
		"refused the second time": {
			answer: func(n int) (int, string, string) {
				if n == 1 {
					return 503, "", ""
				}
				return 403, "", ""
			},
			at: []time.Duration{0, 200 * ms}, code: csm.CodeAccessDenied,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDials(t, c.answer)
				if c.stood {
					d.stood = 1
				}
				d.open(1, 4, c.successor)
				d.q.Close()
				if !slices.Equal(d.at, c.at) {
					t.Errorf("dialled at %v, want %v", d.at, c.at)
				}
				if want := []csm.Event{csm.ConnFailed{Epoch: 4, Code: c.code}}; !slices.Equal(d.posted, want) {
					t.Errorf("posted %v, want %v", d.posted, want)
				}
				if d.dialling != 0 {
					t.Errorf("epoch %d is still being dialled", d.dialling)
				}
			})
		})
	}
}

// A delay that a service asked for also applies to the next epoch.
func TestAnotherEpochWaitsAsTheServiceAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDials(t, func(n int) (int, string, string) {
			if n == 1 {
				return 429, "Retry-After: 5", `{"error":{"code":"insufficient_quota"}}`
			}
			return 429, "Retry-After: 5", ""
		})
		d.refused.until = d.begin.Add(5 * time.Second)
		d.open(1, 4, false)
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if len(d.at) != 0 {
			t.Errorf("dialled at %v, before the service wants it", d.at)
		}
		d.close(1, 4)
		d.open(1, 5, false)
		d.q.Close()
		if want := []time.Duration{5 * time.Second}; !slices.Equal(d.at, want) {
			t.Errorf("dialled at %v, want %v", d.at, want)
		}
		want := []csm.Event{csm.ConnClosed{Instance: 1, Epoch: 4}, csm.ConnFailed{Epoch: 5, Code: csm.CodeQuotaExceeded}}
		if !slices.Equal(d.posted, want) || d.posts[0] != 3*time.Second {
			t.Errorf("posted %v at %v, want %v, the first at 3 s", d.posted, d.posts, want)
		}
	})
}

// A cancelled dial ends at once and reports nothing, because the canceller does not wait
// for it. It is cancelled by its epoch, or by a dial of another epoch.
func TestADialThatIsToldToStop(t *testing.T) {
	for name, c := range map[string]struct {
		stop func(*dials)
		want []csm.Event
		at   []time.Duration
	}{
		"its epoch":     {func(d *dials) { d.close(1, 4) }, []csm.Event{csm.ConnClosed{Instance: 1, Epoch: 4}}, []time.Duration{0, 200 * ms}},
		"all":           {func(d *dials) { d.close(1, 0) }, []csm.Event{csm.ConnClosed{Instance: 1}}, []time.Duration{0, 200 * ms}},
		"another dial":  {func(d *dials) { d.open(1, 5, false) }, []csm.Event{csm.ConnFailed{Epoch: 5, Code: csm.CodeAuthentication}}, []time.Duration{0, 200 * ms, 500 * ms}},
		"the last call": {func(d *dials) { d.stopDial(0) }, nil, []time.Duration{0, 200 * ms}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDials(t, func(n int) (int, string, string) {
					if n > 2 {
						return 401, "", ""
					}
					return 503, "", ""
				})
				d.open(1, 4, false)
				time.Sleep(500 * ms)
				d.close(1, 3) // of another epoch, which is over
				synctest.Wait()
				if len(d.posted) != 0 {
					t.Errorf("%v, while the dial still holds the queue", d.posted)
				}
				c.stop(d)
				d.q.Close()
				want := append([]csm.Event{csm.ConnClosed{Instance: 1, Epoch: 3}}, c.want...)
				if !slices.Equal(d.at, c.at) || !slices.Equal(d.posted, want) || time.Since(d.begin) != 500*ms {
					t.Errorf("dialled at %v, posted %v after %v; want %v, %v after 500 ms", d.at, d.posted, time.Since(d.begin), c.at, want)
				}
			})
		})
	}
}
