package memhttp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// A request that is never answered ends at its deadline, which takes no real time.
func TestTimeIsVirtual(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/hangs" {
				<-r.Context().Done()
			}
			_, _ = io.WriteString(w, "hello")
		}))
		res, err := client.Get(URL + "/answers")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		if _ = res.Body.Close(); err != nil || string(body) != "hello" {
			t.Errorf("got %q, %v", body, err)
		}
		begin := time.Now()
		ctx, stop := context.WithTimeout(t.Context(), time.Hour)
		defer stop()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, URL+"/hangs", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Do(req); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != time.Hour {
			t.Errorf("got %v after %v", err, time.Since(begin))
		}
	})
}
