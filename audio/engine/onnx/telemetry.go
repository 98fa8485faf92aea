package onnx

import "os"

// DisableTelemetry keeps ONNX Runtime from reporting to its publisher: since version 1.32
// its library for Linux sends what it loads, and an id of the machine, to a server of
// Microsoft unless this variable is set. Call it before the library is loaded.
func DisableTelemetry() error { return os.Setenv("ORT_DISABLE_TELEMETRY", "1") }
