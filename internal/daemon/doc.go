// Package daemon connects the conversation core to the world: it feeds events to the
// dispatcher, executes effects, and publishes what observers see.
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
// Words stay in this package: events and effects refer to them by id, and content maps
// the ids to words.
//
// # Order
//
// Effects are executed on the loop's goroutine, which never blocks: each target has its
// own queue. Notifications leave in the order of the steps.
package daemon
