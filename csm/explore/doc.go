// Package explore walks every state that the running core can be brought into,
// and checks every promise in each.
//
// # Model
//
// A composite state is a csm.State in its environment, a world.Place. In each state
// every move of csm/world happens: an answer that is owed comes, well or badly; one
// that is owed is lost and a deadline fires first; the user says, types or does
// something; a device or a connection goes. What is stale is delivered in each state
// as well, and must change a counter and nothing else.
//
// Two composite states are the same when they differ only in what no decision
// depends on: ids are numbered in the order they are mentioned, times become
// whether a deadline runs, histories and counters are left out (roles.go). So
// the graph is finite, and is explored to its end. A core that computes with ids,
// instead of comparing them, breaks promises only in states that are folded here;
// Walk folds none.
//
// # Worlds
//
// All of that at once is too much for a few minutes. A World is a part of it
// with bounds, closed in itself; every world has suspensions. Worlds and bounds
// only grow. Pairs are two worlds in one.
//
// # Situations
//
// What was never met is not proved safe. Situations is a list of what has to be met.
//
// # Checks
//
// Of each step: those of csm.CheckStep and the list in check.go. Of the whole
// graph: deadlines alone lead to rest from everywhere, and so do answers.
package explore
