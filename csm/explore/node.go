package explore

import "github.com/agentvoice/agentvoice-daemon/csm/world"

// node is a composite state: a core in its environment.
type node = world.Place
