// Package explore is a model checker of the core: it visits every reachable state and
// checks every invariant in each.
//
// # Model
//
// A composite state is a csm.State in its environment, a world.Place. In each state every
// move of csm/world is made: an owed answer arrives, with success or failure; an answer
// is lost and a deadline fires first; the user speaks, types or acts; a device or a
// connection is lost. Stale events are also delivered in each state and may only change a
// counter.
//
// Two composite states are equal if they differ only in what no decision depends on: ids
// are numbered in the order of their first mention, times are reduced to whether a
// deadline is armed, and histories and counters are left out (roles.go). So the graph is
// finite and can be explored completely. A core that does arithmetic on ids, rather than
// comparing them, could violate an invariant only in states that are merged here; Walk
// does not merge states.
//
// # Worlds
//
// Everything at once takes too long. A World is a closed part of it with bounds; every
// world includes suspensions. Worlds and bounds only grow. Pairs combine two worlds.
//
// # Situations
//
// Situations lists the conditions that must be met, since what was never met is not
// proved.
//
// # Checks
//
// Of each step: those of csm.CheckStep and the list in check.go. Of the whole graph: from
// every state, deadlines alone lead to rest, and so do answers.
package explore
