package main

import (
	"fmt"

	"github.com/agentvoice/agentvoice-daemon/internal/assets"
)

// examinePaths says where each file of the program was found. A conversation needs none of them:
// what is missing is replaced, or a service does it.
func examinePaths() []finding {
	var all []finding
	for _, p := range assets.Places() {
		var err error
		switch {
		case p.Path != "":
		case p.Unreadable != "":
			err = fault{fmt.Sprintf("%s is not readable by this user: %s", p.Unreadable, p.Without), "change its permissions, or " + p.Fix}
		default:
			err = fault{"missing: " + p.Without, p.Fix}
		}
		all = append(all, found(p.What, false, fmt.Sprintf("%s, %s", p.Path, p.From), nil, err))
	}
	return append(all, linkedLibraries()...)
}
