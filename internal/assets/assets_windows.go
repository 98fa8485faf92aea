package assets

// The library as npm has it, and how npm names the system.
const (
	runtimeName = "onnxruntime.dll"
	npmSystem   = "win"
)
