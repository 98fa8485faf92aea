package csm

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// registered returns the registered cases of each closed sum, keyed by folder and marker
// method.
func registered() map[string][]string {
	names := func(cases []reflect.Type) (list []string) {
		for _, c := range cases {
			list = append(list, c.Name())
		}
		slices.Sort(list)
		return list
	}
	return map[string][]string{
		". conversation":   names(casesOf(conversations)),
		"connection parts": names(casesOf(connections)),
		"turn parts":       names(casesOf(turns)),
		"speech parts":     names(casesOf(speeches)),
		"../copilot parts": names(casesOf(copilots)),
		"history parts":    names(casesOf(histories)),
	}
}

func casesOf[S any](s sum[S]) (list []reflect.Type) {
	for _, read := range s.cases {
		c, err := read([]byte("{}"))
		if err != nil {
			panic(err)
		}
		list = append(list, reflect.TypeOf(c))
	}
	return list
}

// marked returns the types in a folder that have the marker method of a sum.
func marked(t *testing.T, dir, method string) (list []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil || f.Name.Name != method {
				continue
			}
			if of, ok := f.Recv.List[0].Type.(*ast.Ident); ok {
				list = append(list, of.Name)
			}
		}
	}
	slices.Sort(list)
	return list
}

// Every case of every sum can be decoded: a new one needs its line in the registry.
func TestEveryCaseIsRegistered(t *testing.T) {
	known := registered()
	for where, got := range known {
		dir, method, _ := strings.Cut(where, " ")
		if want := marked(t, dir, method); !slices.Equal(got, want) || len(want) == 0 {
			t.Errorf("%s: the registry has %v, the sum is %v", where, got, want)
		}
	}
	// Every sum in a state is in the registry.
	sums := 0
	state := reflect.TypeFor[State]()
	for i := range state.NumField() {
		if state.Field(i).Type.Kind() == reflect.Interface {
			sums++
		}
	}
	if sums != len(known) {
		t.Errorf("a state holds %d sums, and %d are in the registry", sums, len(known))
	}
}

// The error for an unknown name quotes it.
func TestUnknownNamesAreErrors(t *testing.T) {
	s := Initial()
	s.Conv, s.Hold = Listening{}, SuspendUser
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, says string }{
		{`"Conv":{"state":"Listening"`, `"Conv":{"state":"Dozing"`, `"Dozing"`},
		{`"Conn":{"state":"disconnected"`, `"Conn":{"state":"tangled"`, `"tangled" of the connection`},
		{`"Turn":{"state":"idle"`, `"Turn":{"state":"dancing"`, `"dancing" of turn detection`},
		{`"Speech":{"state":"closed"`, `"Speech":{"state":"singing"`, `"singing" of speech output`},
		{`"Copilot":{"state":"idle"`, `"Copilot":{"state":"asleep"`, `"asleep" of the assistant`},
		{`"Session":"inactive"`, `"Session":"sunny"`, `"sunny" of the session`},
		{`"Previous":"Idle"`, `"Previous":"Dozing"`, `phase "Dozing"`},
		{`"Instance":0`, `"Instance":0,"Novelty":1`, `"Novelty"`},
		{`"History":{"state":"normal"`, `"History":{"state":"lost"`, `"lost" of the history`},
		{`"Speech":{"state":"closed","data":{"Gen":0}`, `"Speech":{"state":"closed","data":{"Gen":0,"Volume":3}`, `"Volume"`},
		{`"Hold":1`, `"Hold":1,"Mood":2`, `"Mood"`},
		{`"Hold":1`, `"Hold":-1`, "Hold"},
	} {
		if !strings.Contains(string(b), c.old) {
			t.Errorf("%s does not contain %s", b, c.old)
			continue
		}
		var back State
		err := json.Unmarshal([]byte(strings.Replace(string(b), c.old, c.new, 1)), &back)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v; want it to say %s", c.new, err, c.says)
		}
	}
}
