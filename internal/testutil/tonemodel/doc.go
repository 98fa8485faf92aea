// Package tonemodel writes speech models of a few kilobytes with predictable results,
// so that tests can run real recognizers and voices.
//
// The models use the tone language: each letter is a sine of its own frequency,
// followed by a pause (Say). A recognizer compares the energies of the mel bins
// around those frequencies. The voice speaks each character as a tone.
//
// The files are ONNX graphs, written without a protobuf library, with the inputs,
// outputs and metadata that sherpa-onnx 2.0.1 expects of each architecture. Each
// function writes a folder that package audio/engine/sherpa can load.
package tonemodel
