// Package daemon composes the conversation core with the world: it hands events
// to the dispatcher, carries out effects, and publishes what observers see.
//
// # Model
//
// A Daemon is one conversation machine, one assistant and one world:
//
//	sources -> Daemon.Post -> dispatch.Loop -> csm.Step -> effects
//	   World      devices, connection and voice; real or scripted
//	   assistant  requests to a copilot.Adapter, with retries
//	   publisher  notifications and answers for one client, in order
//
// Words stay in this package: events and effects name them by ids, and content
// keeps what they stand for.
//
// # Order
//
// Effects are carried out on the loop's goroutine, which never waits: each target
// has a queue of its own. What is published leaves in the order of the steps.
package daemon
