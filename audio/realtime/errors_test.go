package realtime

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A service's requested delay is read from either header, the finer one first, and
// limited to a day. Invalid values are ignored.
func TestRetryAfterIsRead(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	date := func(d time.Duration) string { return now.Add(d).Format(http.TimeFormat) }
	for _, c := range []struct {
		ms, seconds string
		want        time.Duration
	}{
		{"", "", 0}, {"", "7", 7 * time.Second}, {"250", "", 250 * time.Millisecond}, {"250", "7", 250 * time.Millisecond},
		{"0", "7", 7 * time.Second}, {"-1", "7", 7 * time.Second}, {"soon", "7", 7 * time.Second}, {"", "0", 0}, {"", "-7", 0}, {"", "soon", 0},
		{"86400000", "", 24 * time.Hour}, {"86400001", "", 24 * time.Hour}, {"", "86400", 24 * time.Hour}, {"", "86401", 24 * time.Hour},
		{"99999999999999999999", "", 24 * time.Hour}, {"-99999999999999999999", "7", 7 * time.Second}, {"", "99999999999999999999", 24 * time.Hour},
		{"", date(90 * time.Second), 90 * time.Second}, {"", date(-time.Second), 0}, {"", date(48 * time.Hour), 24 * time.Hour},
	} {
		h := http.Header{}
		h.Set("Retry-After-Ms", c.ms)
		h.Set("Retry-After", c.seconds)
		if got := retryAfter(h, now); got != c.want {
			t.Errorf("%q ms, %q: %v, want %v", c.ms, c.seconds, got, c.want)
		}
	}
}

// Each status maps to a code, a remedy and whether to retry. A code from the service
// takes precedence, and only retryable errors have a delay.
func TestStatusesOfAService(t *testing.T) {
	for _, c := range []struct {
		status int
		says   string // code sent by the service
		code   string
		again  bool
		remedy string
	}{
		{307, "", CodeProtocolError, false, "realtime service"}, {399, "", CodeProtocolError, false, "realtime service"},
		{400, "", CodeCallRejected, false, "base URL and the model"}, {404, "", CodeCallRejected, false, "base URL and the model"},
		{401, "", CodeAuthentication, false, "check the key"}, {402, "", CodeQuotaExceeded, false, "billing"}, {403, "", CodeAccessDenied, false, "permissions"},
		{408, "", CodeConnectionFailed, true, "network"}, {429, "", CodeRateLimited, true, "wait"},
		{499, "", CodeCallRejected, false, "base URL"}, {500, "", CodeConnectionFailed, true, "network"}, {503, "x", CodeConnectionFailed, true, "network"},
		{429, "insufficient_quota", CodeQuotaExceeded, false, "billing"}, {500, "model_not_found", CodeModelUnavailable, false, "model or deployment"},
		{429, "unsupported_country_region_territory", CodeRegionUnsupported, false, "your region"},
	} {
		e := statusError("calls", &http.Response{StatusCode: c.status, Header: http.Header{"Retry-After": {"3"}}}, c.says)
		pause := map[bool]time.Duration{true: 3 * time.Second}[c.again]
		if e.Code != c.code || e.Status != c.status || e.Retryable != c.again || e.RetryAfter != pause || !strings.Contains(e.Message, c.remedy) {
			t.Errorf("%d %s: %+v", c.status, c.says, e)
		}
		if want := fmt.Sprintf("calls: the service answered %d", c.status); !strings.HasPrefix(e.Message, want) || strings.Contains(e.Message, "(") != (c.says != "") || strings.Contains(e.Message, "()") {
			t.Errorf("%d %s: %q", c.status, c.says, e.Message)
		}
	}
}

// A failed dial identifies its cause: the service, the caller, or a timeout.
func TestStatusOfADial(t *testing.T) {
	gone, stop := context.WithCancel(t.Context())
	stop()
	known := &Error{Code: CodeQuotaExceeded}
	for name, c := range map[string]struct {
		caller context.Context
		err    error
		code   string
		again  bool
	}{
		"the service's":    {gone, fmt.Errorf("step: %w", known), CodeQuotaExceeded, false},
		"the caller's":     {gone, context.DeadlineExceeded, CodeConnectionFailed, false},
		"that of the time": {t.Context(), fmt.Errorf("step: %w", context.DeadlineExceeded), CodeConnectTimeout, true},
		"another":          {t.Context(), errors.New("no route"), CodeConnectionFailed, true},
	} {
		if e := dialError(c.caller, "calls", c.err); e.Code != c.code || e.Retryable != c.again {
			t.Errorf("%s: %+v", name, e)
		}
	}
	cause := errors.New("no route")
	if e := dialError(t.Context(), "calls", cause); !errors.Is(e, cause) || strings.Contains(e.Error(), "no route") {
		t.Errorf("the cause is in the text, or lost: %v", e)
	}
	synctest.Test(t, func(t *testing.T) {
		late, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		<-late.Done()
		if e := dialError(late, "calls", late.Err()); e.Code != CodeConnectTimeout || !e.Retryable {
			t.Errorf("a caller whose time was over: %+v", e)
		}
	})
}

// A service's code is repeated only if it has the form of a code.
func TestStatusCodesThatAreRepeated(t *testing.T) {
	for code, want := range map[string]string{
		"rate_limit_exceeded": "rate_limit_exceeded", "DeploymentNotFound": "DeploymentNotFound", "Sk-Secret": "other", "": "other", "two words": "other", "a" + strings.Repeat("b", 64): "other",
	} {
		if got := safeCode(code, "other"); got != want {
			t.Errorf("%q is repeated as %q, want %q", code, got, want)
		}
	}
}

// The announced end of a session is based on the service's clock, and ignored if
// implausible.
func TestExpiryThatIsAnnounced(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	for name, c := range map[string]struct {
		ahead, limit time.Duration
		announced    time.Duration // relative to now, by the service's clock
		want         time.Duration // relative to now; 0 if unknown
	}{
		"unknown":              {0, 0, -1 << 62, 0},
		"documented":           {0, time.Hour, -1 << 62, time.Hour},
		"announced":            {0, time.Hour, 20 * time.Minute, 20 * time.Minute},
		"by a clock ahead":     {4 * time.Hour, 0, 4*time.Hour + time.Minute, time.Minute},
		"by a clock behind":    {-time.Hour, 0, 0, time.Hour},
		"over":                 {0, time.Hour, -time.Second, time.Hour},
		"now":                  {0, time.Hour, 0, time.Hour},
		"longer than there is": {0, time.Hour, longestSession, time.Hour},
		"as long as can be":    {0, time.Hour, longestSession - time.Second, longestSession - time.Second},
	} {
		var x expiry
		x.begin(now, c.ahead, c.limit)
		if c.announced > -1<<62 {
			x.announced(now.Add(c.announced).Unix(), now)
		} else {
			x.announced(0, now)
		}
		if got := x.at.Load(); c.want == 0 && got != 0 || c.want != 0 && got != now.Add(c.want).UnixNano() {
			t.Errorf("%s: the session ends at %v, want after %v", name, time.Unix(0, got), c.want)
		}
	}
}

// A dial ends when the last session update is answered, not with the initial session;
// either may announce the session's end.
func TestExpiryOfASessionThatIsUpdated(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	result := make(chan error, 1)
	l := &loop{expiry: &expiry{}, result: result, updates: 2}
	session := func(kind string, in time.Duration) string {
		return fmt.Sprintf(`{"type":"session.%s","session":{"expires_at":%d}}`, kind, now.Add(in).Unix())
	}
	for i, e := range []struct {
		data   string
		ends   time.Duration
		stands bool
	}{
		{session("created", time.Hour), time.Hour, false},
		{`{"type":"session.updated","session":{"expires_at":"soon"}}`, time.Hour, false},
		{session("updated", time.Minute), time.Minute, true},
		{`{"type":"session.updated"}`, time.Minute, true},
	} {
		l.onEvent([]byte(e.data), now)
		if got := time.Unix(0, l.expiry.at.Load()).Sub(now); got != e.ends || l.ready != e.stands || len(result) != map[bool]int{true: 1}[e.stands] {
			t.Errorf("event %d: it ends in %v, stands: %v, was told %d times", i, got, l.ready, len(result))
		}
	}
}
