package protocol

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// PriceUnits are the units of a price in agentvoice.budget.prices: per million tokens or characters, per
// minute of audio or of an open session, and the seconds that are charged when a session is created.
var PriceUnits = []string{
	"textIn", "textCached", "textOut", "audioIn", "audioCached", "audioOut", "characters", "minute", "sessionMinute", "startSeconds",
}

// maxPrice is the highest price of a unit, in US dollars.
const maxPrice = 100_000

// ModelPrices returns the prices in the setting agentvoice.budget.prices by model and unit, or what is wrong
// with them and what is allowed. The problem quotes at most the name of a model or a unit.
func ModelPrices(setting string) (prices map[string]map[string]float64, problem, allowed string) {
	prices = map[string]map[string]float64{}
	for _, entry := range strings.Split(setting, ";") {
		words := strings.Fields(entry)
		if len(words) == 0 {
			continue
		}
		model := words[0]
		name := strconv.Quote(clip(model, 40))
		switch {
		case strings.Contains(model, "="):
			return nil, "has a price without a model", "a model before its prices, such as gpt-9 textIn=4 textOut=16"
		case prices[model] != nil:
			return nil, "has " + name + " twice", "each model once"
		case len(words) == 1:
			return nil, "has no price for " + name, "a price after each model, such as gpt-9 textIn=4 textOut=16; minute=0 is free"
		}
		prices[model] = map[string]float64{}
		for _, word := range words[1:] {
			unit, amount, _ := strings.Cut(word, "=")
			value, err := strconv.ParseFloat(amount, 64)
			_, twice := prices[model][unit]
			switch {
			case !slices.Contains(PriceUnits, unit):
				return nil, fmt.Sprintf("has the unknown unit %q for %s", clip(unit, 40), name), strings.Join(PriceUnits, ", ")
			case twice:
				return nil, fmt.Sprintf("has %s of %s twice", unit, name), "each unit once"
			case err != nil || math.IsNaN(value) || value < 0 || value > maxPrice:
				return nil, fmt.Sprintf("has an invalid %s of %s", unit, name), fmt.Sprintf("US dollars from 0 to %d, with a point, such as %s=0.5", maxPrice, unit)
			case unit == "startSeconds" && value != math.Trunc(value):
				return nil, fmt.Sprintf("has an invalid startSeconds of %s", name), "whole seconds"
			}
			prices[model][unit] = value
		}
		if prices[model]["startSeconds"] > 0 && prices[model]["sessionMinute"] == 0 {
			return nil, fmt.Sprintf("has startSeconds of %s without sessionMinute", name), "both, such as sessionMinute=0.05 startSeconds=15"
		}
	}
	return prices, "", ""
}

// Limited reports whether a budget is set.
func (b BudgetSettings) Limited() bool { return b.Day > 0 || b.Month > 0 }
