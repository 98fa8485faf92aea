// Package csmtest tests the conversation core with scenarios that can be read without
// knowing Go: conversations as text, each with its trace.
//
// # Scenarios
//
// A file of testdata/csm holds one or more conversations, each after a line "--- name";
// the lines before the first apply to all. A line is an event or an expectation; # starts
// a comment.
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
// Time is virtual and exact: prefix a line with "at 1200ms" or "at +300ms", or write
// "wait 300ms". The words in quotes only determine the word count and the class; the core
// never sees them. The golden trace follows >>>, one line per step: time, event,
// transition, cause, effects. Update rewrites it.
//
// The verbs, by file:
//
//	verbs_world.go   world, configure, repeat everything twice, again, stale, event
//	verbs_user.go    user starts, stops, interrupts, commits, types, says, ...
//	verbs_facts.go   vad, stt, copilot, speech, tool, session, device, connection
//	verbs_expect.go  expect ...
//
// # Worlds
//
// World is a core in the environment of csm/world, whose moves a picker chooses. Property
// tests walk it at random, with invented events in between. They write a violation to
// testdata/regressions as a scenario of raw events, which is replayed from then on.
// Events and stale variants are built by reflection, so new events, effects and fields of
// the state are covered without extra code.
package csmtest
