package turns

import (
	"fmt"
	"testing"
)

// windows plays n windows with a voice of a level, and reports whether the last one counts.
func (l *Loudness) windows(n int, level float64, open bool) bool {
	for range n {
		l.Hear(level, true, open)
	}
	return l.Counts(level)
}

// pauses plays n windows without a voice.
func (l *Loudness) pauses(n int, open bool) {
	for range n {
		l.Hear(-80, false, open)
	}
}

// A voice 13 dB below the open turn's does not count, but another 8 dB of it may be the user's.
func TestAVoiceFarBelowTheTurnsIsBackground(t *testing.T) {
	for _, c := range []struct {
		known         int // windows of the turn's voice
		level         float64
		counts, faint bool
	}{
		{14, -60, true, false}, {16, -60, false, false}, {16, -43, true, false}, {16, -43.1, false, true},
		{16, -51, false, true}, {16, -51.1, false, false}, {500, -43.1, false, true},
	} {
		var l Loudness
		l.windows(c.known, -30, true)
		l.Hear(c.level, true, true)
		if got, faint := l.Counts(c.level), l.Faint(c.level); got != c.counts || faint != c.faint {
			t.Errorf("after %d windows, %v dB counts: %v, is faint: %v", c.known, c.level, got, faint)
		}
	}
}

// Without a turn, a voice counts whatever its level, unless that talker was heard before.
func TestABackgroundBeginsATurnOnlyOnItsOwn(t *testing.T) {
	turn := func(l *Loudness, level float64) { l.windows(50, level, true); l.pauses(20, true); l.pauses(10, false) }
	for name, c := range map[string]struct {
		before func(l *Loudness)
		counts bool
	}{
		"nobody has spoken":                {func(*Loudness) {}, true},
		"the user has spoken":              {func(l *Loudness) { turn(l, -30) }, true},
		"talked in the user's turn before": {func(l *Loudness) { l.windows(10, -55, true); turn(l, -30) }, false},
		"talked for less":                  {func(l *Loudness) { l.windows(5, -55, true); turn(l, -30) }, true},
		"talked before the turn":           {func(l *Loudness) { turn(l, -30); l.windows(6, -55, false); turn(l, -30) }, false},
		"had a turn before the user's":     {func(l *Loudness) { turn(l, -55); turn(l, -30) }, false},
		"paused for 5 s":                   {func(l *Loudness) { l.windows(10, -55, true); turn(l, -30); l.pauses(157, false) }, true},
		"in the rest of the user's turn":   {func(l *Loudness) { l.windows(50, -30, true); l.windows(50, -55, true) }, true},
	} {
		var l Loudness
		c.before(&l)
		l.Hear(-55, true, false)
		if got := l.Counts(-55); got != c.counts {
			t.Errorf("%s: begins a turn: %v", name, got)
		}
		if l.Hear(-37, true, false); !l.Counts(-37) {
			t.Errorf("%s: the user begins no turn", name)
		}
	}
}

// A user who was louder for a moment is still heard.
func TestAUserWhoWasLouderIsHeard(t *testing.T) {
	turn := func(l *Loudness, level float64) { l.windows(50, level, true); l.pauses(20, true); l.pauses(10, false) }
	for name, before := range map[string]func(*Loudness){
		"a laugh in the first turn": func(l *Loudness) {
			l.windows(40, -35, true)
			l.windows(10, -20, true)
			l.windows(10, -35, true)
			l.pauses(30, false)
			l.windows(320, -35, false)
		},
		"a passage after three turns": func(l *Loudness) {
			turn(l, -35)
			turn(l, -35)
			turn(l, -35)
			l.windows(30, -35, true)
			l.windows(50, -20, true)
		},
		"a turn after three":        func(l *Loudness) { turn(l, -35); turn(l, -35); turn(l, -35); turn(l, -20) },
		"the third turn":            func(l *Loudness) { turn(l, -35); turn(l, -35); turn(l, -20) },
		"the first turns, for 10 s": func(l *Loudness) { turn(l, -35); turn(l, -20); l.windows(320, -35, false) },
		"the first turns, with attempts": func(l *Loudness) {
			turn(l, -35)
			turn(l, -20)
			for range 4 {
				l.windows(40, -35, false)
				l.pauses(60, false)
			}
		},
	} {
		var l Loudness
		before(&l)
		if open := l.open; !l.windows(1, -35, open) {
			t.Errorf("%s: the user's usual voice does not count", name)
		}
	}
	var l Loudness
	for range 4 {
		turn(&l, -30)
	}
	l.windows(10, -50, true)
	turn(&l, -30)
	if l.windows(2000, -50, false) {
		t.Error("a talker far below the user's own level counts after a minute")
	}
	for range 6 {
		turn(&l, -20)
	}
	if own, _ := l.own.Level(); own != -20 {
		t.Errorf("the user's own level is %v after louder turns", own)
	}
}

// A short answer is known as the user's by the level of earlier turns.
func TestAShortAnswerHasTheLevelOfEarlierTurns(t *testing.T) {
	var l Loudness
	l.windows(50, -30, true)
	l.pauses(160, false)
	l.windows(30, -55, true) // a talker opens the turn
	if !l.Counts(-55) {
		t.Error("a talker alone does not count")
	}
	if l.windows(4, -30, true); l.Counts(-55) {
		t.Error("the talker counts after the user's answer")
	}
}

// The level of a turn follows a user who speaks more softly.
func TestTheLevelFollowsTheUser(t *testing.T) {
	var l Loudness
	l.windows(200, -30, true)
	if l.windows(160, -40, true); !l.Counts(-53) {
		t.Error("the level did not follow")
	}
}

func TestOwnLevel(t *testing.T) {
	var o Own
	if _, known := o.Level(); known {
		t.Error("a level is known before the first utterance")
	}
	for i := range 12 {
		o.Add(float64(i))
	}
	if level, known := o.Level(); !known || level != 7 || fmt.Sprint(o) != "[3 4 5 6 7 8 9 10 11]" {
		t.Errorf("the level of %v is %v", o, level)
	}
}
