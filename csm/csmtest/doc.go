// Package csmtest is how the conversation core is tested by people who need not
// read Go: conversations as text, each with the trace that came of it.
//
// # Scenarios
//
// A file of testdata/csm holds one conversation, or several, each behind a line
// "--- name"; what stands before the first of them happens in each. A line is one
// thing that happens or one that is expected; # begins a comment.
//
//	proves: REQ-004 AC-002
//	world connection 100ms, speech 50ms
//	user starts
//	at 200ms vad.start
//	at 1200ms stt.final "open the config"
//	expect analysing at 1200ms because stt.final
//	expect effect SendCopilot once with utterance=1
//	>>>
//	1.2s    stt.final utterance=1 words=3    Listening > Analysing (stt.final)  SendCopilot request=1
//
// Time is virtual and exact: "at 1200ms" and "at +300ms" before a line, or "wait
// 300ms". The words in quotes say how many there are and of which class; the core
// never sees them. After >>> stands the golden trace, a line a step: time, event,
// transition, cause, effects. Update rewrites it.
//
// The verbs, by the file that has them:
//
//	verbs_world.go   world, configure, repeat everything twice, again, stale, event
//	verbs_user.go    user starts, stops, interrupts, commits, types, says, ...
//	verbs_facts.go   vad, stt, copilot, speech, tool, session, device, connection
//	verbs_expect.go  expect ...
//
// # Worlds
//
// World is a core in the environment of csm/world, whose moves a picker chooses.
// Properties walk it at random, with events that are made up in between, and write
// what breaks an invariant as a scenario of raw events to testdata/regressions,
// where it is replayed for ever. Events are made, and made stale, by reflection
// over their fields, so that a new event, effect or field of the state is covered
// by being there.
package csmtest
