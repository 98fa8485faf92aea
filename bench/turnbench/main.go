// Command turnbench records the pauses of spoken sentences, for figures about
// end-of-turn detection:
//
//	turnbench -in FILE -out FILE
//
// A row of the input is a Flite voice and a sentence, separated by a tab; |600| in
// the sentence is a pause of 600 ms. The detector and PocketSphinx process it as in
// the embedded server. A row of the output is a pause of the voice: sentence, voice,
// end or pause, its length in ms, and the transcript at times in ms after the start
// of the pause, as 0=words;128=words. audio/turns/testdata holds such
// recordings, and its benchmark prints the figures.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	in := flag.String("in", "", "sentences to speak")
	out := flag.String("out", "", "the recording to write")
	flag.Parse()
	if err := record(*in, *out); err != nil {
		fmt.Fprintln(os.Stderr, "turnbench:", err)
		os.Exit(1)
	}
}
