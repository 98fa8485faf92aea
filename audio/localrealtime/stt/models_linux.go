package stt

// systemModelDir is where the packages of Debian and Ubuntu put the models.
const systemModelDir = "/usr/share/pocketsphinx/model"
