package main

// systemSpeechDir is where the package pocketsphinx-testdata of Debian and Ubuntu
// installs its files.
const systemSpeechDir = "/usr/share/pocketsphinx/test/data"
