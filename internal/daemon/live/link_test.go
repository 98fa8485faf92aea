//go:build cgo

package live

import (
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/csm"
	"github.com/agentvoice/agentvoice-daemon/csm/connection"
	"github.com/agentvoice/agentvoice-daemon/protocol"
)

// await waits for a World event as it reaches the core.
func (tk *talk) await(what string, match func(csm.Event) bool) {
	tk.t.Helper()
	late := time.After(patience)
	for {
		select {
		case e := <-tk.events:
			if match(e) {
				return
			}
		case <-late:
			tk.t.Fatalf("no %s", what)
		}
	}
}

// A connection that expires is replaced alongside the conversation: no state changes,
// the old call is hung up, and the user is heard and answered over the new one.
//
//test:long
func TestASuccessorTakesOver(t *testing.T) {
	tk := newTalk(t, nil)
	before := tk.w.link.live.Load()
	tk.d.Post(csm.SessionExpiring{Instance: tk.d.State().Instance})
	tk.await("end of the old connection", func(e csm.Event) bool {
		closed, ok := e.(csm.ConnClosed)
		return ok && closed.Epoch == before.epoch.Load()
	})
	if now := tk.w.link.live.Load(); now == nil || now == before || now.epoch.Load() != before.epoch.Load()+1 {
		t.Fatalf("the call after it is %+v", now)
	}
	if epoch := connection.Epoch(tk.d.State().Conn); epoch != before.epoch.Load()+1 {
		t.Errorf("the core is at epoch %d", epoch)
	}
	tk.mouth.say(t, sentence)
	tk.answered()
	tk.want(protocol.StateListening)
	if tk.lastUserWords() == "" {
		t.Error("nothing was heard over the successor")
	}
	if n, counted := tk.w.Counters()["realtime.unsolicited"]; n != 0 || !counted {
		t.Errorf("%d unsolicited responses, counted %v", n, counted)
	}
}

// A successor that is lost before it takes over does not affect the conversation; the
// next one is dialled when it is needed.
func TestASuccessorThatIsGivenUp(t *testing.T) {
	tk := newTalk(t, nil)
	before := tk.w.link.live.Load()
	l := tk.w.link
	l.open(1, before.epoch.Load()+7, true)
	tk.await("connection beside the live one", func(e csm.Event) bool {
		ready, ok := e.(csm.ConnReady)
		return ok && ready.Epoch == before.epoch.Load()+7
	})
	if l.live.Load() != before {
		t.Fatal("it took over by itself")
	}
	l.close(1, before.epoch.Load()+7)
	tk.await("its end", func(e csm.Event) bool {
		closed, ok := e.(csm.ConnClosed)
		return ok && closed.Epoch == before.epoch.Load()+7
	})
	if l.live.Load() != before || l.next != nil {
		t.Errorf("live %+v, next %+v", l.live.Load(), l.next)
	}
	tk.sendText("are you there")
	tk.answered()
	tk.want(protocol.StateListening)
}

// A call that is established while it is being hung up is not kept: nothing would ever
// take it, and while it exists no other successor is requested.
func TestACallThatStandsAsItIsClosed(t *testing.T) {
	tk := newTalk(t, nil)
	before := tk.w.link.live.Load()
	l, epoch := tk.w.link, before.epoch.Load()+7
	closed := make(chan struct{})
	l.q.Do(func() {
		<-closed
		if err := l.try(t.Context(), 1, epoch); err != nil {
			t.Error(err)
		}
	})
	l.close(1, epoch)
	close(closed)
	tk.await("its end", func(e csm.Event) bool {
		end, ok := e.(csm.ConnClosed)
		return ok && end.Epoch == epoch
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.live.Load() != before || l.next != nil {
		t.Errorf("live %+v, next %+v", l.live.Load(), l.next)
	}
}
