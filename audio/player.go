package audio

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// SegmentID names a spoken segment. Gen is the generation, which each flush
// bumps; Seq numbers the segments of a generation in ascending order, from 1.
type SegmentID struct {
	Gen uint32
	Seq uint32
}

func (s SegmentID) String() string { return fmt.Sprintf("%d.%d", s.Gen, s.Seq) }

// PlayerConfig sizes a Player. The zero value is usable.
type PlayerConfig struct {
	// Prebuffer is how much audio must be there before playback begins, or goes
	// on after an underrun; 60 ms when zero. A segment that ended earlier does
	// not wait for it.
	Prebuffer time.Duration
	// Capacity is how much audio can wait to be played; 120 s (11.5 MB) when
	// zero. A Write that does not fit fails with ErrFull.
	Capacity time.Duration
}

// Errors of the producer's side of a Player.
var (
	// ErrFull: the audio does not fit. Nothing of it was taken; the writer
	// drops it, or tries again when playback advanced.
	ErrFull = errors.New("playback buffer is full; drop the audio or write it again later")
	// ErrSegment: the segment was ended, or a later one was begun.
	ErrSegment = errors.New("segment takes no more audio; write to the newest segment, before its end")
	// ErrGeneration: the generation is newer than the live one.
	ErrGeneration = errors.New("generation is not live yet; flush to it first")
	// ErrClosed: the player was closed.
	ErrClosed = errors.New("player is closed")
)

// PlayerEventKind says what happened to playback.
type PlayerEventKind uint8

// The events of a Player. Seg, Samples and Of are the cursor in all of them:
// Samples samples of segment Seg have left Render, of Of in all; Of is 0 as long
// as the segment has no end. Seg.Seq is 0 when nothing of the generation was
// rendered.
const (
	// Buffered: playback does not run and there is enough audio for it to begin
	// (Prebuffer, or a segment with its end). It comes once for a generation,
	// and once more after each Drained or Underrun. Seg is the segment that
	// plays next.
	Buffered PlayerEventKind = iota
	// SegmentStarted: the first sample of Seg is in the current frame.
	SegmentStarted
	// SegmentPlayed: all of Seg was rendered; Samples equals Of.
	SegmentPlayed
	// Paused answers Pause with the cursor. A Pause that finds everything
	// drained has no Paused: the Drained stands for it.
	Paused
	// Flushed answers Flush: nothing of generation Seg.Gen is rendered any more.
	// The cursor is that of the flush. It is the last event of Seg.Gen.
	Flushed
	// Drained: everything written was rendered and each segment has its end;
	// Seg is the last one. Playback stops and needs a new Start.
	Drained
	// Underrun: the buffer ran empty in the middle of Seg. Silence is rendered
	// and the cursor stands, until Buffered, when playback continues by itself.
	Underrun
	// Sounded: audio is in the output again, from At on.
	Sounded
	// Silenced: the output has no more audio, from At on: held, paused, flushed,
	// drained or in an underrun. A fade counts as audio. It comes before the event
	// that says why, and a hold has no other.
	Silenced
)

var playerEventNames = [...]string{"buffered", "segmentStarted", "segmentPlayed", "paused", "flushed", "drained", "underrun", "sounded", "silenced"}

func (k PlayerEventKind) String() string {
	if int(k) < len(playerEventNames) {
		return playerEventNames[k]
	}
	return fmt.Sprintf("playerEvent(%d)", uint8(k))
}

// PlayerEvent is one fact about playback.
type PlayerEvent struct {
	Kind    PlayerEventKind
	Seg     SegmentID
	Samples int64 // of Seg, rendered
	Of      int64 // of Seg, in all; 0 while it has no end
	// At is the position on the device's time line, in samples rendered since
	// NewPlayer (silence included), at which it happened.
	At     int64
	NewGen uint32 // Flushed: the generation that is live now
}

// Player is the playback engine between decoded speech and a Sink.
//
// Three parties use it at the same time. The producer writes audio as it
// arrives. The control side starts, pauses and flushes; a call returns at once
// and takes effect on the next frame. The device calls Render for each frame.
// What happened comes back through notify.
//
// A generation plays when it is started and has enough audio. It stops by
// itself when it is drained, and needs a Start then; in an underrun it waits for
// audio and continues by itself. A pause and a flush fade out within the next
// frame (5 ms); the samples of the fade count as heard.
//
// Each Flush is answered by one Flushed and each Pause by a Paused or Drained,
// also when no device is rendering; pauses within one frame share an answer.
//
// # How the parties meet
//
// Samples lie in a ring between read (stored by the renderer) and written
// (stored by the producer), segments in a ring of records between tail and head,
// the same way. The samples are published before the record of their segment,
// and an end before the samples of the next segment. What the control side wants
// is one immutable order, replaced as a whole. Producer and control side share a
// mutex, which Render never takes. The renderer is the device, or the notifier
// where no device has rendered for a while; an atomic flag keeps them apart.
type Player struct {
	notify    func(PlayerEvent)
	least     int64        // of prebuffer
	prebuffer atomic.Int64 // see Prebuffer

	samples []int16
	records []record
	written atomic.Int64          // samples published, since NewPlayer
	read    atomic.Int64          // samples consumed, since NewPlayer
	head    atomic.Int64          // records published
	tail    atomic.Int64          // records consumed
	order   atomic.Pointer[order] // what the control side wants
	applied atomic.Pointer[order] // what the renderer does

	mu         sync.Mutex // of the producer and the control side
	named      bool       // a call has named the live generation
	closed     bool
	newest     *record      // segment of the live generation; nil when there is none
	superseded []superseded // flushed, and not yet reported

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

// order is what the control side wants. A new serial is a flush; starts and
// pauses count within a serial.
type order struct {
	serial uint64
	gen    uint32
	from   int64 // samples before this position are of older serials
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

// openEnd is the end of a segment whose end is not known.
const openEnd = -1

// cutAt is the end of a segment that was open when a flush came: what lies
// behind the position is not of it, and yet its end is not known.
func cutAt(position int64) int64 { return -2 - position }

// limit is the position up to which audio is of rec, if written was loaded
// before, and whether that is the end of rec.
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

// length is how many samples rec has in all, 0 as long as it has no end.
func (rec *record) length() int64 {
	if end := rec.end.Load(); end >= 0 {
		return end - rec.start
	}
	return 0
}

// superseded is a generation that was flushed and not yet reported so.
type superseded struct {
	serial   uint64
	old, new uint32
}

// maxSegments is how many segments can wait to be played.
const maxSegments = 1024

// NewPlayer returns a player and starts the goroutine that calls notify, one
// event at a time and in order. notify may call every method but Close.
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
