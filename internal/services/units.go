package services

import (
	"slices"
	"strings"
)

// units are those that a use is paid by, as its services report it: all of one row.
var units = map[Use][][]string{
	Session:       {{"audioIn", "audioOut"}, {"sessionMinute"}},
	Transcription: {{"minute"}, {"audioIn", "textOut"}, {"textIn", "textOut"}},
	Speech:        {{"characters"}, {"minute"}},
	Chat:          {{"textIn", "textOut"}},
}

// Lacks returns the units that a price of a use lacks, such as "audioIn and audioOut, or sessionMinute"; "" if
// the use can be paid by the given units. If some of a row are given, it names only the others.
func (u Use) Lacks(given map[string]float64) string {
	var begun, all []string
	for _, row := range units[u] {
		var lacks []string
		var sum float64
		for _, unit := range row {
			if price, ok := given[unit]; !ok {
				lacks = append(lacks, unit)
			} else {
				sum += price
			}
		}
		switch {
		case len(lacks) == 0 && sum > 0:
			return ""
		case len(lacks) > 0 && len(lacks) < len(row):
			begun = append(begun, strings.Join(lacks, " and "))
		}
		all = append(all, strings.Join(row, " and "))
	}
	if len(begun) > 0 {
		all = slices.Compact(begun)
	}
	return strings.Join(all, ", or ")
}
