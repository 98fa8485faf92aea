package protocol

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestPrices(t *testing.T) {
	for text, want := range map[string]map[string]map[string]float64{
		"":                              {},
		" ; ":                           {},
		"gpt-9 textIn=4 textOut=16.5":   {"gpt-9": {"textIn": 4, "textOut": 16.5}},
		"a minute=0;b characters=15\n;": {"a": {"minute": 0}, "b": {"characters": 15}},
		"org/model:8b sessionMinute=0.05 startSeconds=15": {"org/model:8b": {"sessionMinute": 0.05, "startSeconds": 15}},
	} {
		got, problem, _ := ModelPrices(text)
		if problem != "" || !reflect.DeepEqual(got, want) {
			t.Errorf("%q is %v, %s", text, got, problem)
		}
	}
}

func TestBadPrices(t *testing.T) {
	for text, want := range map[string]string{
		"textIn=4":               "has a price without a model (allowed: a model before",
		"gpt-9":                  `has no price for "gpt-9" (allowed: a price after`,
		"a minute=1; a minute=2": `has "a" twice`,
		"a minute=1 minute=2":    `has minute of "a" twice`,
		"a euros=1":              `has the unknown unit "euros" for "a" (allowed: textIn, textCached`,
		"a minute":               `has an invalid minute of "a" (allowed: US dollars from 0 to 100000, with a point`,
		"a minute=0,5":           `has an invalid minute of "a"`,
		"a minute=-1":            `has an invalid minute of "a"`,
		"a minute=NaN":           `has an invalid minute of "a"`,
		"a minute=1e9":           `has an invalid minute of "a"`,
		"a startSeconds=1.5":     `has an invalid startSeconds of "a" (allowed: whole seconds)`,
		"a startSeconds=15":      `has startSeconds of "a" without sessionMinute (allowed: both`,
		"a minute=1 startSeconds=15 sessionMinute=0": `has startSeconds of "a" without sessionMinute`,
	} {
		raw, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		_, bad := ParseConfiguration(Configuration{"agentvoice.budget.prices": raw})
		if len(bad) != 1 || bad[0].Field != "agentvoice.budget.prices" || !strings.HasPrefix(bad[0].Problem+" (allowed: "+bad[0].Allowed+")", want) {
			t.Errorf("%q: %+v, want %q", text, bad, want)
		}
	}
}
