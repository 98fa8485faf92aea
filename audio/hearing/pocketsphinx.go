//go:build cgo

package hearing

/*
#cgo pkg-config: pocketsphinx sphinxbase
#include <stdlib.h>
#include <pocketsphinx.h>
#include <sphinxbase/err.h>

// The choices, by word errors in 71 words of human and 333 of synthetic speech,
// behind Opus at 32 kbit/s unless said otherwise. The same sentences chose and
// measured, so differences of a few words mean nothing.
//   fwdflat       off: a second pass; 230 to 380 ms after the last word
//   bestpath      on: the best way through the first pass's lattice; 19 to 20
//                 and 61 to 52 errors, 10 to 30 ms to finish, and posteriors
//   remove_noise  off: 26 to 20 and 57 to 52; without Opus 21 to 18 and 51 to 54
//   maxwpf, maxhmmpf  bound the search: no change behind Opus; without it 18 to
//                 20, and in loud noise 35 to 37, where they cut the work to a
//                 quarter and the finish from about 335 to 30 ms
static ps_decoder_t *new_decoder(char const *hmm, char const *lm, char const *dict) {
	cmd_ln_t *config = cmd_ln_init(NULL, ps_args(), FALSE,
		"-hmm", hmm, "-lm", lm, "-dict", dict,
		"-fwdflat", "no", "-bestpath", "yes", "-remove_noise", "no",
		"-maxwpf", "20", "-maxhmmpf", "5000", NULL);
	if (config == NULL)
		return NULL;
	ps_decoder_t *decoder = ps_init(config); // keeps a reference of its own
	cmd_ln_free_r(config);
	return decoder;
}

static char const *hypothesis(ps_decoder_t *decoder) {
	int32 score;
	return ps_get_hyp(decoder, &score);
}

// Adds up the posteriors of the words of the final path, without the fillers.
static double posteriors(ps_decoder_t *decoder, int *words) {
	double sum = 0;
	*words = 0;
	for (ps_seg_t *seg = ps_seg_iter(decoder); seg != NULL; seg = ps_seg_next(seg)) {
		char const *word = ps_seg_word(seg);
		if (word[0] == '<' || word[0] == '[' || word[0] == '+')
			continue;
		int32 acoustic, language, backoff;
		sum += logmath_exp(ps_get_logmath(decoder), ps_seg_prob(seg, &acoustic, &language, &backoff));
		++*words;
	}
	return sum;
}
*/
import "C"

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"unsafe"
)

// The engine counts the frames of an utterance in 16 bits and crashes the process after
// 327 s, and its final search takes some ms per second of audio. A long utterance is
// therefore recognised in pieces, cut at the first pause after softLimit and
// unconditionally at hardLimit.
const (
	softLimit = 12 * SampleRate
	hardLimit = 20 * SampleRate
)

// writeStep is how much audio the engine gets at once, 100 ms, so that pauses are also
// detected within a long Write.
const writeStep = SampleRate / 10

var quiet = sync.OnceFunc(func() { C.err_set_logfp(nil) })

// sphinx is a decoder of PocketSphinx 5prealpha. It keeps the cepstral mean (its model
// of the microphone) across utterances, so one decoder serves one speaker.
type sphinx struct {
	decoder              *C.ps_decoder_t
	softLimit, hardLimit int // samples

	active  bool
	samples int      // of this piece
	texts   []string // of the preceding pieces
	sum     float64  // of the posteriors of their words
	words   int
}

// PocketSphinx makes recognizers for American English with the stock acoustic
// model, language model and dictionary. find returns the folder that contains en-us/.
func PocketSphinx(find func() (string, error)) Factory {
	return func() (Recognizer, error) {
		dir, err := find()
		if err != nil {
			return nil, err
		}
		m, err := modelsIn(dir)
		if err != nil {
			return nil, err
		}
		quiet()
		hmm, lm, dict := C.CString(m.acoustic), C.CString(m.language), C.CString(m.dictionary)
		defer C.free(unsafe.Pointer(hmm))
		defer C.free(unsafe.Pointer(lm))
		defer C.free(unsafe.Pointer(dict))
		decoder := C.new_decoder(hmm, lm, dict)
		if decoder == nil {
			return nil, errors.New("PocketSphinx cannot load its English model; reinstall the package pocketsphinx-en-us")
		}
		return &sphinx{decoder: decoder, softLimit: softLimit, hardLimit: hardLimit}, nil
	}
}

// Start implements Recognizer.
func (s *sphinx) Start() error {
	if s.decoder == nil {
		return ErrClosed
	}
	if s.active {
		s.active = false
		C.ps_end_utt(s.decoder)
	}
	s.texts, s.sum, s.words = nil, 0, 0
	return s.startPiece()
}

// Write implements Recognizer.
func (s *sphinx) Write(pcm []int16) error {
	if err := s.check(); err != nil {
		return err
	}
	for len(pcm) > 0 {
		n := min(len(pcm), writeStep)
		if C.ps_process_raw(s.decoder, (*C.int16)(unsafe.Pointer(&pcm[0])), C.size_t(n), 0, 0) < 0 {
			return errors.New("PocketSphinx cannot process audio; make a new recogniser")
		}
		pcm = pcm[n:]
		s.samples += n
		if s.samples >= s.hardLimit || s.samples >= s.softLimit && C.ps_get_in_speech(s.decoder) == 0 {
			if err := errors.Join(s.endPiece(), s.startPiece()); err != nil {
				return err
			}
		}
	}
	return nil
}

// Partial implements Recognizer.
func (s *sphinx) Partial() string {
	if s.check() != nil {
		return ""
	}
	return joined(append(s.texts[:len(s.texts):len(s.texts)], C.GoString(C.hypothesis(s.decoder))))
}

// Finish implements Recognizer.
func (s *sphinx) Finish() (Result, error) {
	if err := s.check(); err != nil {
		return Result{}, err
	}
	if err := s.endPiece(); err != nil {
		return Result{}, err
	}
	result := Result{Text: joined(s.texts)}
	if s.words > 0 { // fillers count, so that there may be more than in the text
		result.Probs = slices.Repeat([]float64{min(s.sum/float64(s.words), 1)}, len(strings.Fields(result.Text)))
	}
	return result, nil
}

// Close implements Recognizer.
func (s *sphinx) Close() error {
	if s.decoder != nil {
		C.ps_free(s.decoder)
		s.decoder, s.active = nil, false
	}
	return nil
}

func (s *sphinx) check() error {
	if s.decoder == nil {
		return ErrClosed
	}
	if !s.active {
		return ErrNoUtterance
	}
	return nil
}

func (s *sphinx) startPiece() error {
	if C.ps_start_utt(s.decoder) < 0 {
		return errors.New("PocketSphinx cannot begin an utterance; make a new recogniser")
	}
	s.active, s.samples = true, 0
	return nil
}

func (s *sphinx) endPiece() error {
	// If the lattice has no path to its end, the engine has no final hypothesis; use
	// the last partial one instead.
	before := C.GoString(C.hypothesis(s.decoder))
	s.active = false
	if C.ps_end_utt(s.decoder) < 0 {
		return errors.New("PocketSphinx cannot end an utterance; make a new recogniser")
	}
	if C.ps_get_lattice(s.decoder) == nil {
		s.texts = append(s.texts, before)
		s.words += len(strings.Fields(before))
		return nil
	}
	s.texts = append(s.texts, C.GoString(C.hypothesis(s.decoder)))
	var words C.int
	s.sum += float64(C.posteriors(s.decoder, &words))
	s.words += int(words)
	return nil
}

// joined joins the pieces with single spaces.
func joined(texts []string) string {
	return strings.Join(strings.Fields(strings.Join(texts, " ")), " ")
}
