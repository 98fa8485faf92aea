package contract

import (
	"go/ast"
	"slices"
	"testing"
)

// roleFile has the methods that read roleFields on behalf of all other code.
const roleFile = "protocol/roles.go"

// roleFields are provider settings that only package protocol reads: they depend on
// one another, and its methods say which service recognizes and which speaks.
var roleFields = []string{"Provider", "Endpoint", "Hearing.Provider", "Hearing.Endpoint", "Voice.Provider", "Voice.Endpoint"}

// TestProvidersAreReadByRole: `agentvoice.provider` alone does not say which
// service recognizes and which speaks. Production code uses Settings.Hears, Speaks,
// SessionWith and their endpoints.
func TestProvidersAreReadByRole(t *testing.T) {
	s := load(t, nil)
	if found := s.roleReads(); len(found) > 0 {
		t.Errorf("these read a setting of the provider instead of Settings.Hears, HearingEndpoint, Speaks, VoiceEndpoint or SessionWith: %q", found)
	}
}

// TestAProviderReadIsFound shows that the check can fail.
func TestAProviderReadIsFound(t *testing.T) {
	const file = "internal/daemon/help.go"
	text, err := load(t, nil).read(file)
	if err != nil {
		t.Fatal(err)
	}
	s := load(t, map[string]string{file: string(text) + "\nfunc wrong(set protocol.Settings) bool { return set.Provider == set.Voice.Provider }\n"})
	if found := s.roleReads(); len(found) != 2 {
		t.Errorf("found %q, want Provider and Voice.Provider", found)
	}
}

// roleReads returns the places outside package protocol that select one of roleFields.
func (s *source) roleReads() (found []string) {
	settings := s.pkgs["protocol"].types.Scope().Lookup("Settings").Type()
	for _, u := range s.pkgs {
		if u.path == "protocol" || !product(u.path) {
			continue
		}
		for _, f := range u.files {
			ast.Inspect(f, func(n ast.Node) bool {
				sel, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				name, of := sel.Sel.Name, sel.X
				if inner, ok := of.(*ast.SelectorExpr); ok {
					name, of = inner.Sel.Name+"."+name, inner.X
				}
				if tv, known := s.info.Types[of]; known && tv.Type == settings && slices.Contains(roleFields, name) {
					found = append(found, s.fset.Position(sel.Pos()).String()+" "+name)
				}
				return true
			})
		}
	}
	slices.Sort(found)
	return found
}
