//go:build cgo

package live

import (
	"testing"
	"time"

	"github.com/agentvoice/agentvoice-daemon/protocol"
	"github.com/agentvoice/agentvoice-daemon/session/usage"
)

// usesOf sums up the recorded usage of a provider and model.
func (tk *talk) usesOf(provider, model string) (sum usage.Use, n int) {
	tk.mu.Lock()
	defer tk.mu.Unlock()
	for _, u := range tk.uses {
		if u.Provider == provider && u.Model == model {
			sum.AudioIn, sum.AudioOut, sum.Characters, n = sum.AudioIn+u.AudioIn, sum.AudioOut+u.AudioOut, sum.Characters+u.Characters, n+1
		}
	}
	return sum, n
}

// Recognition and speech by requests count for the service that did the work: the
// seconds of the user's voice, and those of its own voice with the characters of the
// text.
//
//test:long
func TestUsageOfEarsAndVoice(t *testing.T) {
	_, url := audioService(t, nil)
	tk := talkWith(t, "Here is the answer.", func(s *protocol.Settings) {
		s.Provider, s.Endpoint = protocol.ProviderCompatible, url
	})
	tk.mouth.say(t, sentence)
	tk.answered()
	tk.want(protocol.StateListening)
	uses := func() int {
		_, n := tk.usesOf("compatible", "whisper-1")
		return n
	}
	tk.uttered(1, uses)
	heard, n := tk.usesOf("compatible", "whisper-1")
	if heard.AudioIn < time.Second || heard.AudioIn > 20*time.Second {
		t.Errorf("%d utterances of %v were heard", n, heard.AudioIn)
	}
	read, n := tk.usesOf("compatible", "tts-1")
	if n != 1 || read.AudioOut < 500*time.Millisecond || read.AudioOut > 5*time.Second || read.Characters != int64(len("Here is the answer.")) {
		t.Errorf("%d texts were read: %+v", n, read)
	}
}

// The local engines also report seconds, and cost nothing.
func TestUsageOfThisMachine(t *testing.T) {
	tk := talkWith(t, "Here is the answer.", nil)
	tk.mouth.say(t, sentence)
	tk.answered()
	heard, n := tk.usesOf("local", "")
	heard.Provider = usage.Local
	if cost, known := heard.Cost(); n == 0 || heard.AudioIn < time.Second || cost != 0 || !known {
		t.Errorf("%d uses: %+v, %v, %v", n, heard, cost, known)
	}
}
