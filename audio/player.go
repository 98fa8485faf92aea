package audio

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// SegmentID identifies a spoken segment. Gen is the generation, incremented by each
// flush; Seq numbers the segments within a generation, from 1.
type SegmentID struct {
	Gen uint32
	Seq uint32
}

func (s SegmentID) String() string { return fmt.Sprintf("%d.%d", s.Gen, s.Seq) }

// PlayerConfig sets the buffer sizes of a Player. The zero value is usable.
type PlayerConfig struct {
	// Prebuffer is how much audio must be buffered before playback starts, or
	// resumes after an underrun; 60 ms when zero. A segment whose end is already
	// known does not wait for it.
	Prebuffer time.Duration
	// Capacity is how much unplayed audio fits; 120 s (11.5 MB) when zero. A Write
	// that does not fit fails with ErrFull.
	Capacity time.Duration
}

// Errors returned by the producer methods of a Player.
var (
	// ErrFull: the audio does not fit and none of it was accepted. The caller
	// drops it, or retries after playback has advanced.
	ErrFull = errors.New("playback buffer is full; drop the audio or retry later")
	// ErrSegment: the segment has ended, or a later one has started.
	ErrSegment = errors.New("segment is closed; write to the newest segment before ending it")
	// ErrGeneration: the generation is newer than the live one.
	ErrGeneration = errors.New("generation is not live yet; flush to it first")
	// ErrClosed: the player was closed.
	ErrClosed = errors.New("player is closed")
)

// PlayerEventKind says what happened to playback.
type PlayerEventKind uint8

// The events of a Player. Seg, Samples and Of are the cursor in every event:
// Render has returned Samples samples of segment Seg, out of Of in total. Of is 0
// until the segment ends. Seg.Seq is 0 if nothing of the generation was rendered.
const (
	// Buffered: playback is stopped and enough audio is buffered to start it
	// (Prebuffer, or a complete segment). It is sent once per generation, and once
	// more after each Drained or Underrun. Seg is the segment that plays next.
	Buffered PlayerEventKind = iota
	// SegmentStarted: the first sample of Seg is in the current frame.
	SegmentStarted
	// SegmentPlayed: all of Seg was rendered; Samples equals Of.
	SegmentPlayed
	// Paused answers Pause, with the cursor. If Pause finds everything drained,
	// the earlier Drained is the answer and no Paused follows.
	Paused
	// Flushed answers Flush: generation Seg.Gen is no longer rendered. It carries
	// the cursor at the flush and is the last event of Seg.Gen.
	Flushed
	// Drained: everything written was rendered and every segment has ended. Seg
	// is the last one. Playback stops until the next Start.
	Drained
	// Underrun: the buffer ran empty in the middle of Seg. The player renders
	// silence until Buffered, then resumes without a Start.
	Underrun
	// Sounded: output has audio again, from At.
	Sounded
	// Silenced: output has no audio from At, because of a hold, pause, flush, drain
	// or underrun. A fade counts as audio. It precedes the event that gives the
	// cause; a hold sends no other event.
	Silenced
)

var playerEventNames = [...]string{"buffered", "segmentStarted", "segmentPlayed", "paused", "flushed", "drained", "underrun", "sounded", "silenced"}

func (k PlayerEventKind) String() string {
	if int(k) < len(playerEventNames) {
		return playerEventNames[k]
	}
	return fmt.Sprintf("playerEvent(%d)", uint8(k))
}

// PlayerEvent reports a change in playback.
type PlayerEvent struct {
	Kind    PlayerEventKind
	Seg     SegmentID
	Samples int64 // rendered samples of Seg
	Of      int64 // total samples of Seg; 0 until it ends
	// At is the position on the device's timeline at which it happened, in samples
	// rendered since NewPlayer (silence included).
	At int64
	// Rendered is when the frame with At was rendered, or audio for it arrived. It does
	// not follow from At: a busy machine renders late and in bursts.
	Rendered time.Time
	NewGen   uint32 // Flushed: the generation that is live now
}

// Player is the playback engine between decoded speech and a Sink.
//
// Three parties use it concurrently. The producer writes audio as it arrives. The
// controller starts, pauses and flushes; its calls return at once and take effect on
// the next frame. The device calls Render for each frame. notify reports what
// happened.
//
// A generation plays once it is started and has enough audio. It stops when it is
// drained, and then needs another Start; after an underrun it waits for audio and
// resumes without one. Pause and Flush fade out within the next frame (5 ms); the
// samples of the fade count as heard.
//
// Each Flush gets one Flushed and each Pause one Paused or Drained, even when no
// device is rendering. Pauses within one frame share an answer.
//
// # Synchronization
//
// Samples lie in a ring between read (advanced by the renderer) and written (advanced
// by the producer). Segments lie in a ring of records between tail and head, in the
// same way. Samples are published before the record of their segment, and the end of
// a segment before the samples of the next one. The controller's request is one
// immutable order, replaced as a whole. Producer and controller share a mutex that
// Render never takes. The renderer is normally the device; if no device has rendered
// for a while, the notifier acts as the renderer. An atomic flag keeps them apart.
type Player struct {
	notify    func(PlayerEvent)
	least     int64        // minimum prebuffer, from PlayerConfig
	prebuffer atomic.Int64 // see Prebuffer

	samples []int16
	records []record
	written atomic.Int64          // samples published, since NewPlayer
	read    atomic.Int64          // samples consumed, since NewPlayer
	head    atomic.Int64          // records published
	tail    atomic.Int64          // records consumed
	order   atomic.Pointer[order] // requested by the controller
	applied atomic.Pointer[order] // in effect in the renderer

	mu         sync.Mutex // held by the producer and the controller
	named      bool       // the live generation has been set by a call
	closed     bool
	newest     *record      // newest segment of the live generation, or nil
	superseded []superseded // flushed but not yet reported

	rendering atomic.Bool // held by the renderer
	r         renderer
	clock     atomic.Int64 // samples rendered, silence included
	holdUntil atomic.Int64 // on clock; see Hold
	gate      gate
	cursor    sharedCursor
	events    eventRing
	wakeup    chan struct{} // capacity 1

	quit     chan struct{}
	finished chan struct{}
}

// order is the playback state that the controller requests. A new serial is a flush;
// starts and pauses count within a serial.
type order struct {
	serial uint64
	gen    uint32
	from   int64 // samples before this position belong to older serials
	starts uint32
	pauses uint32
	paused bool
}

// record is one segment in the ring.
type record struct {
	id     SegmentID
	serial uint64
	start  int64        // position of its first sample
	end    atomic.Int64 // position after its last sample; openEnd or cutAt(position)
}

// openEnd marks a segment that has not ended.
const openEnd = -1

// cutAt encodes the end of a segment that a flush cut off while it was open. Samples
// after position belong to other segments, and the segment's length stays unknown.
func cutAt(position int64) int64 { return -2 - position }

// limit returns the position up to which audio belongs to rec, and whether rec ends
// there. The caller must have loaded written before.
func (rec *record) limit(written int64) (position int64, ended bool) {
	switch end := rec.end.Load(); {
	case end >= 0:
		return end, true
	case end == openEnd:
		return written, false
	default:
		return -2 - end, false
	}
}

// length returns the total samples of rec, or 0 until it ends.
func (rec *record) length() int64 {
	if end := rec.end.Load(); end >= 0 {
		return end - rec.start
	}
	return 0
}

// superseded is a flushed generation whose Flushed event is pending.
type superseded struct {
	serial   uint64
	old, new uint32
}

// maxSegments limits the segments that wait for playback.
const maxSegments = 1024

// NewPlayer returns a player and starts the goroutine that calls notify, one event at
// a time and in order. notify may call every method except Close.
func NewPlayer(cfg PlayerConfig, notify func(PlayerEvent)) *Player {
	if cfg.Prebuffer <= 0 {
		cfg.Prebuffer = 60 * time.Millisecond
	}
	if cfg.Capacity <= 0 {
		cfg.Capacity = 120 * time.Second
	}
	capacity := max(Samples(cfg.Capacity), FrameSamples)
	p := &Player{
		notify:   notify,
		least:    min(Samples(cfg.Prebuffer), capacity),
		samples:  make([]int16, capacity),
		records:  make([]record, maxSegments),
		wakeup:   make(chan struct{}, 1),
		quit:     make(chan struct{}),
		finished: make(chan struct{}),
	}
	p.r.order = &order{}
	p.order.Store(p.r.order)
	p.applied.Store(p.r.order)
	go p.dispatch()
	return p
}
