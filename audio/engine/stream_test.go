package engine

import (
	"testing"
	"testing/synctest"
	"time"
)

// An error that a child sends before it exits is returned as an error, whichever of both is
// noticed first.
func TestErrorBeforeTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &child{dead: make(chan struct{}), err: errStopped}
		s := &Stream{child: c} // without more, only the end is noticed
		got := make(chan error, 1)
		go func() {
			_, err := s.Next(nil, time.Hour)
			got <- err
		}()
		synctest.Wait()
		s.push(Reply{Error: "the model has failed"})
		close(c.dead)
		if err := <-got; err == nil || err == errStopped {
			t.Errorf("the error is %v", err)
		}
	})
}
