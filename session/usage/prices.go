package usage

// price is the price of a model: nano-dollars per token or character, that is dollars per
// billion, and micro-dollars per minute of audio.
type price struct {
	textIn, textCached, textOut    int64
	audioIn, audioCached, audioOut int64
	characters                     int64
	minute                         int64
}

// tokens says whether the model is priced by token.
func (p price) tokens() bool { return p.textIn+p.textOut+p.audioIn+p.audioOut > 0 }

// prices are OpenAI's list prices, without taxes and discounts. Those of the realtime
// models and of gpt-4o-mini-tts match https://developers.openai.com/api/docs/models as of
// November 2026. For the gpt-4o transcription models that page lists a lower price for
// audio tokens than its estimate per minute implies; the table has the higher one, since
// budgets depend on it. The price per minute applies to responses without token counts.
var prices = map[string]price{
	"gpt-realtime":           {textIn: 4000, textCached: 400, textOut: 16000, audioIn: 32000, audioCached: 400, audioOut: 64000},
	"gpt-realtime-1.5":       {textIn: 4000, textCached: 400, textOut: 16000, audioIn: 32000, audioCached: 400, audioOut: 64000},
	"gpt-realtime-2.1-mini":  {textIn: 600, textCached: 60, textOut: 2400, audioIn: 10000, audioCached: 300, audioOut: 20000},
	"gpt-realtime-mini":      {textIn: 600, textCached: 60, textOut: 2400, audioIn: 10000, audioCached: 300, audioOut: 20000},
	"gpt-realtime-whisper":   {minute: 17000},
	"gpt-4o-transcribe":      {textIn: 2500, textCached: 2500, textOut: 10000, audioIn: 6000, audioCached: 6000, minute: 6000},
	"gpt-4o-mini-transcribe": {textIn: 1250, textCached: 1250, textOut: 5000, audioIn: 3000, audioCached: 3000, minute: 3000},
	"whisper-1":              {minute: 6000},
	"gpt-4o-mini-tts":        {textIn: 600, textCached: 600, audioOut: 12000, minute: 15000},
	"tts-1":                  {characters: 15000},
	"tts-1-hd":               {characters: 30000},
	"gpt-4o":                 {textIn: 2500, textCached: 1250, textOut: 10000},
	"gpt-4o-mini":            {textIn: 150, textCached: 75, textOut: 600},
	"gpt-4.1":                {textIn: 2000, textCached: 500, textOut: 8000},
	"gpt-4.1-mini":           {textIn: 400, textCached: 100, textOut: 1600},
	"gpt-4.1-nano":           {textIn: 100, textCached: 25, textOut: 400},
	"gpt-5":                  {textIn: 1250, textCached: 125, textOut: 10000},
	"gpt-5-mini":             {textIn: 250, textCached: 25, textOut: 2000},
	"gpt-5-nano":             {textIn: 50, textCached: 5, textOut: 400},
}
