package live

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/agentvoice/agentvoice-daemon/audio"
	"github.com/agentvoice/agentvoice-daemon/audio/wake"
	"github.com/agentvoice/agentvoice-daemon/internal/daemon"
)

const (
	// confirmedWithin is how long a detection waits for the local model. Loading it takes 0.5 to
	// 3 s.
	confirmedWithin = 3 * time.Second
	// mostDoubts is how many detections can wait for the source's goroutine.
	mostDoubts = 4
)

// doubts are detections of which the spotter is not sure. One counts if the local model confirms
// it in time; without a model none does. All but detected belongs to the source's goroutine.
type doubts struct {
	detected chan wake.Heard // by the spotter
	open     []*doubt        // oldest first
	compare  func(*sound)    // asks the local model
	question [][]string      // what it is asked
	begin    func(wake.Heard)
	rejected func()
}

// doubt is a detection that waits for the local model.
type doubt struct {
	wake.Heard
	frames   int // since it was asked
	answered atomic.Bool
	answer   *daemon.Answer // read after answered
}

// add queues a detection. It runs on the spotter's goroutine.
func (q *doubts) add(h wake.Heard) {
	select {
	case q.detected <- h:
	default:
		q.rejected()
	}
}

// settle asks about new detections and decides about those that were answered or are late, a
// frame after the last call.
func (q *doubts) settle(kept *keptFrames) {
	for len(q.detected) > 0 {
		d := &doubt{Heard: <-q.detected}
		q.open = append(q.open, d)
		q.compare(&sound{
			pcm:      kept.between(d.From-wake.BeforePhrase, d.To),
			expected: q.question, always: true,
			done: func(answer *daemon.Answer) { d.answer = answer; d.answered.Store(true) },
		})
	}
	q.open = slices.DeleteFunc(q.open, func(d *doubt) bool {
		d.frames++
		switch answered := d.answered.Load(); {
		case answered && d.answer != nil && wake.Confirms(q.question, d.answer.Phrase, d.answer.Behind):
			q.begin(d.Heard)
		case answered || d.frames >= int(confirmedWithin/audio.FrameTime):
			q.rejected()
		default:
			return false
		}
		return true
	})
}

// forget drops all detections.
func (q *doubts) forget() {
	for len(q.detected) > 0 {
		<-q.detected
	}
	q.open = nil
}
