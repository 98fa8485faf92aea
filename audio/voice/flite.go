//go:build cgo

package voice

/*
#cgo LDFLAGS: -lflite_cmu_us_slt -lflite_cmu_us_rms -lflite_cmu_us_awb -lflite_cmu_us_kal16 -lflite_usenglish -lflite_cmulex -lflite -lm
#include <stdint.h>
#include <stdlib.h>
#include <flite/flite.h>

// The voices have no header of their own.
cst_voice *register_cmu_us_slt(const char *voxdir);
cst_voice *register_cmu_us_rms(const char *voxdir);
cst_voice *register_cmu_us_awb(const char *voxdir);
cst_voice *register_cmu_us_kal16(const char *voxdir);

// Below, in Go.
extern int agentvoiceFlitePiece(uintptr_t handle, short *samples, int n, int rate);

static int on_piece(const cst_wave *w, int start, int size, int last, cst_audio_streaming_info *info) {
	return agentvoiceFlitePiece((uintptr_t)info->userdata, w->samples + start, size, w->sample_rate)
		? CST_AUDIO_STREAM_CONT : CST_AUDIO_STREAM_STOP;
}

// Makes a voice stream. The voice owns the information and lives as long as
// the process.
static cst_audio_streaming_info *stream(cst_voice *voice) {
	cst_audio_streaming_info *info = new_audio_streaming_info();
	info->asc = on_piece;
	feat_set(voice->features, "streaming_info", audio_streaming_info_val(info));
	return info;
}

static void say(cst_voice *voice, cst_audio_streaming_info *info, uintptr_t handle, char const *text, float stretch) {
	info->userdata = (void *)handle;
	feat_set_float(voice->features, "duration_stretch", stretch);
	cst_wave *w = flite_text_to_wave(text, voice);
	info->userdata = NULL;
	if (w != NULL)
		delete_wave(w);
}
*/
import "C"

import (
	"context"
	"fmt"
	"runtime/cgo"
	"slices"
	"strings"
	"sync"
	"unsafe"
)

// inUse is a semaphore for Flite 2.2, whose voices and tables are process-wide
// globals, so only one caller at a time may use it. It is held while a piece of text is
// synthesised, which is much faster than playback, but not while audio is emitted, so a
// slow listener delays only itself.
var inUse = make(chan struct{}, 1)

// voices are registered once per process and read-only afterwards.
var voices map[string]voice

type voice struct {
	voice *C.cst_voice
	info  *C.cst_audio_streaming_info
}

// loadVoices registers the voices once per process.
var loadVoices = sync.OnceFunc(func() {
	C.flite_init()
	voices = map[string]voice{}
	for name, v := range map[string]*C.cst_voice{
		"slt": C.register_cmu_us_slt(nil), "rms": C.register_cmu_us_rms(nil),
		"awb": C.register_cmu_us_awb(nil), "kal16": C.register_cmu_us_kal16(nil),
	} {
		voices[name] = voice{v, C.stream(v)}
	}
})

// Flite returns a factory of synthesizers for American English. The voices are linked
// into the program, so nothing can be missing at run time.
func Flite() Factory {
	return func() (Synthesizer, error) {
		loadVoices()
		return &flite{rate: 1}, nil
	}
}

type flite struct {
	closed bool
	rate   float64
}

// SetRate implements Synthesizer.
func (f *flite) SetRate(rate float64) { f.rate = min(max(rate, MinRate), MaxRate) }

// Voices implements Synthesizer.
func (*flite) Voices() []string { return slices.Clone(fliteVoices) }

// Close implements Synthesizer. The voices remain available to other synthesizers.
func (f *flite) Close() error {
	f.closed = true
	return nil
}

// Speak implements Synthesizer.
func (f *flite) Speak(ctx context.Context, name, text string, emit func(pcm []int16, rate int) error) error {
	if f.closed {
		return ErrClosed
	}
	if name == "" {
		name = DefaultVoice
	}
	v, ok := voices[name]
	if !ok {
		return fmt.Errorf("%w %q; use one of %s", ErrUnknownVoice, name, strings.Join(fliteVoices, ", "))
	}
	for _, piece := range pieces(text) {
		if err := speakPiece(ctx, v, piece, f.rate, emit); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// speakPiece synthesises on its own goroutine, which has ended when speakPiece returns,
// and emits on the caller's.
func speakPiece(ctx context.Context, v voice, text string, rate float64, emit func(pcm []int16, rate int) error) error {
	q := &queue{more: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	go q.fill(v, text, rate)
	err := q.drain(ctx, emit)
	close(q.stop)
	<-q.done
	return err
}

// queue passes the audio of one piece of text from the engine to the listener. It
// buffers the listener's whole backlog, which maxPiece bounds.
type queue struct {
	more chan struct{} // signals new audio; capacity 1
	stop chan struct{} // closed when the listener has left
	done chan struct{} // closed when the audio is complete

	mu   sync.Mutex
	pcm  []int16
	rate int
}

// fill runs the engine until the piece is complete or the listener leaves.
func (q *queue) fill(v voice, text string, rate float64) {
	defer close(q.done)
	select {
	case inUse <- struct{}{}:
		defer func() { <-inUse }()
	case <-q.stop:
		return
	}
	handle := cgo.NewHandle(q)
	defer handle.Delete()
	ctext := C.CString(text)
	defer C.free(unsafe.Pointer(ctext))
	C.say(v.voice, v.info, C.uintptr_t(handle), ctext, C.float(1/rate))
}

// agentvoiceFlitePiece is called by the engine with the next audio. It returns
// 0 to stop the engine.
//
//export agentvoiceFlitePiece
func agentvoiceFlitePiece(handle C.uintptr_t, samples *C.short, n, rate C.int) C.int {
	q := cgo.Handle(handle).Value().(*queue)
	select {
	case <-q.stop:
		return 0
	default:
	}
	q.mu.Lock()
	q.pcm = append(q.pcm, unsafe.Slice((*int16)(unsafe.Pointer(samples)), int(n))...)
	q.rate = int(rate)
	q.mu.Unlock()
	select {
	case q.more <- struct{}{}:
	default:
	}
	return 1
}

// drain emits audio as it arrives, at most 100 ms at a time, until it is complete, ctx
// is done or emit fails.
func (q *queue) drain(ctx context.Context, emit func(pcm []int16, rate int) error) error {
	for last := false; !last; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-q.more:
		case <-q.done:
			last = true
		}
		q.mu.Lock()
		pcm, rate := q.pcm, q.rate
		q.pcm = nil
		q.mu.Unlock()
		for len(pcm) > 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			n := min(len(pcm), rate/10)
			if err := emit(pcm[:n], rate); err != nil {
				return err
			}
			pcm = pcm[n:]
		}
	}
	return nil
}
