package main

// systemSpeechDir is where the package pocketsphinx-testdata of Debian and
// Ubuntu puts it.
const systemSpeechDir = "/usr/share/pocketsphinx/test/data"
