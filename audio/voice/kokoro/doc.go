// Package kokoro speaks English with the Kokoro-82M model on ONNX Runtime.
//
//	m, err := kokoro.Load(dir, runtimePath, 2)
//	defer m.Close()
//	err = m.Speak(ctx, "af_heart", "One change is not committed.", 1, 0, func(p kokoro.Piece) error {
//		return play(p.PCM) // text[p.Start:p.End]
//	})
//
// # Model
//
// Speak cuts the text into pieces and computes one at a time. The first one is short, so
// that it is heard early. The next ones are clauses or sentences, as long as the audio that
// is ahead of the listener allows: computing a piece must take less time than playing the
// ones before it. A piece loses the silence around its speech, and gets the pause that its
// punctuation calls for.
//
// The model sometimes runs on into noise. A piece that is much longer than its symbols
// should take is computed again in two halves; a half that is still too long is cut off.
//
// # Files
//
// The folder has model.onnx and vocab.json of Kokoro-82M (Apache-2.0), its speakers as
// voices/NAME.bin (Apache-2.0; 510 rows of 256 float32, one for each number of symbols), and
// the pronunciations of misaki (Apache-2.0): us_gold.json, us_silver.json, gb_gold.json and
// gb_silver.json. ONNX Runtime before 1.32 computes it too slowly for a conversation.
//
// # Invariants
//
// Pieces are in order, and their ranges cover the text without gap or overlap. emit is
// called on Speak's goroutine and never after Speak returned. A Model computes one piece at a
// time; concurrent calls of Speak take turns. Text never reaches an error, and errors name
// files without their folders.
package kokoro
