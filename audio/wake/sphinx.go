//go:build cgo

package wake

/*
#cgo pkg-config: pocketsphinx sphinxbase
#include <stdlib.h>
#include <pocketsphinx.h>
#include <sphinxbase/err.h>

// The words of the phrase are added one by one, because loading the whole dictionary
// is slow. Detections of the default phrase at 1e-20 (clean, with a fan at 20 dB, at
// 10 dB; of 12 flite and 36 espeak-ng utterances) chose the options:
//   remove_noise  on, unlike in recognition: flite 12, 3, 1, espeak-ng 9, 29, 28;
//                 off: 12, 3, 0 and 12, 28, 24
//   kws_plp       cost of a step in any other sound: 12, 9, 3 and 16, 35, 35 at 1e-3;
//                 the figures for remove_noise are at 1e-1
static ps_decoder_t *new_decoder(char const *hmm, double threshold) {
	cmd_ln_t *config = cmd_ln_init(NULL, ps_args(), FALSE,
		"-hmm", hmm, "-remove_noise", "yes", "-kws_plp", "1e-3", NULL);
	if (config == NULL)
		return NULL;
	cmd_ln_set_float_r(config, "-kws_threshold", threshold);
	ps_decoder_t *decoder = ps_init(config); // keeps a reference of its own
	cmd_ln_free_r(config);
	return decoder;
}

// The length of a detected phrase in frames, or 0, its last frame, and its score.
static int heard(ps_decoder_t *decoder, int *to, int32 *score) {
	if (ps_get_hyp(decoder, score) == NULL)
		return 0;
	ps_seg_t *phrase = ps_seg_iter(decoder);
	if (phrase == NULL)
		return 0;
	int from;
	ps_seg_frames(phrase, &from, to);
	*score = ps_seg_prob(phrase, NULL, NULL, NULL);
	ps_seg_free(phrase);
	return *to - from + 1;
}
*/
import "C"

import (
	"errors"
	"math"
	"strings"
	"sync"
	"unsafe"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

// The engine counts the frames of an utterance in 16 bits and crashes the process
// after 327 s. So a new utterance starts in the first silence after softLimit, and at
// hardLimit in any case. A phrase across a cut, or within 100 ms after it, is missed,
// so cuts are rare.
const (
	softLimit = 60 * SampleRate
	hardLimit = 240 * SampleRate
)

// What turns the score of a detection into the natural logarithm of its likelihood ratio: the
// engine's logarithms have the base 1.0001 and lose ten bits, and its keyword search subtracts a
// constant. TestScoreIsTheThreshold checks them.
const (
	scoreUnit   = 1024 * 0.000099995
	scoreOffset = 1500
)

// doubtFor is how long a detection that is not sure waits for a better match, in samples at
// audio.SampleRate. Without it, the restart after a weak match within the phrase loses the phrase.
const doubtFor = 300 * audio.SampleRate / 1000

// frameTime is the length of the engine's frames, in samples at audio.SampleRate.
const frameTime = audio.SampleRate / 100

var quiet = sync.OnceFunc(func() { C.err_set_logfp(nil) })

// sphinx is a decoder of PocketSphinx 5prealpha with a keyword search.
type sphinx struct {
	decoder *C.ps_decoder_t
	samples int   // of the current utterance
	doubted int64 // samples at audio.SampleRate since the first detection that is not sure
	end     C.int // last frame of the newest of these, and the samples since then
	ago     int64
	sure    float64 // the logarithm of Config.Threshold

	softLimit, hardLimit int // samples
}

func newEngine(cfg Config) (engine, error) {
	acoustic, dictionary, err := modelIn(cfg.ModelDir)
	if err != nil {
		return nil, err
	}
	words, err := parsePhrase(cfg.Phrase, dictionary)
	if err != nil {
		return nil, err
	}
	quiet()
	hmm := C.CString(acoustic)
	defer C.free(unsafe.Pointer(hmm))
	s := &sphinx{
		decoder: C.new_decoder(hmm, C.double(cfg.Candidates)), sure: math.Log(cfg.Threshold),
		softLimit: softLimit, hardLimit: hardLimit,
	}
	if s.decoder == nil {
		return nil, errors.New("cannot load PocketSphinx's English model; reinstall the package pocketsphinx-en-us")
	}
	if err := s.search(words); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// search sets the words that the decoder searches for.
func (s *sphinx) search(words []word) error {
	added := map[string]bool{}
	var texts []string
	for _, w := range words {
		texts = append(texts, w.text)
		if added[w.text] {
			continue
		}
		added[w.text] = true
		if !s.add(w) {
			return unusable("PocketSphinx rejected the word %q of the wake phrase; choose another", w.text)
		}
	}
	name, phrase := C.CString("wake"), C.CString(strings.Join(texts, " "))
	defer C.free(unsafe.Pointer(name))
	defer C.free(unsafe.Pointer(phrase))
	if C.ps_set_keyphrase(s.decoder, name, phrase) < 0 || C.ps_set_search(s.decoder, name) < 0 {
		return unusable("PocketSphinx rejected the wake phrase %q; choose another", strings.Join(texts, " "))
	}
	return s.begin()
}

func (s *sphinx) add(w word) bool {
	text, sounds := C.CString(w.text), C.CString(w.sounds)
	defer C.free(unsafe.Pointer(text))
	defer C.free(unsafe.Pointer(sounds))
	return C.ps_add_word(s.decoder, text, sounds, 1) >= 0
}

func (s *sphinx) listen(pcm []int16) (match, error) {
	if len(pcm) == 0 {
		return match{}, nil
	}
	if C.ps_process_raw(s.decoder, (*C.int16)(unsafe.Pointer(&pcm[0])), C.size_t(len(pcm)), 0, 0) < 0 {
		return match{}, errors.New("PocketSphinx failed to process audio; turn the wake phrase off and on again")
	}
	s.samples += len(pcm)
	var score C.int32
	var end C.int
	frames := C.heard(s.decoder, &end, &score)
	likely := float64(score+scoreOffset) * scoreUnit
	m := match{found: frames > 0, sure: likely > s.sure-scoreUnit, length: int64(frames) * frameTime, likely: likely}
	if m.found && !m.sure {
		if end != s.end {
			s.end, s.ago = end, 0 // a better match took the place of the last one
		}
		m.ago = s.ago
		waited, piece := s.doubted, int64(len(pcm))*audio.SampleRate/SampleRate
		s.doubted, s.ago = waited+piece, s.ago+piece
		if waited < doubtFor {
			m = match{} // it may become sure
		}
	} else {
		s.doubted, s.end, s.ago = 0, 0, 0
	}
	if m.found || s.samples >= s.hardLimit || s.samples >= s.softLimit && C.ps_get_in_speech(s.decoder) == 0 {
		return m, s.restart()
	}
	return match{}, nil
}

func (s *sphinx) restart() error {
	if C.ps_end_utt(s.decoder) < 0 {
		return errors.New("PocketSphinx failed to end an utterance; turn the wake phrase off and on again")
	}
	return s.begin()
}

func (s *sphinx) begin() error {
	s.samples, s.doubted, s.end, s.ago = 0, 0, 0, 0
	if C.ps_start_utt(s.decoder) < 0 {
		return errors.New("PocketSphinx failed to start an utterance; turn the wake phrase off and on again")
	}
	return nil
}

func (s *sphinx) close() {
	if s.decoder != nil {
		C.ps_free(s.decoder)
		s.decoder = nil
	}
}
