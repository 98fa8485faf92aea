// Package onnx loads models with ONNX Runtime.
//
// There is one ONNX Runtime in a process. The first session loads it, and closing the last
// one frees it:
//
//	s, err := onnx.Open(modelPath, runtimePath, 1)
//	defer s.Close()
//	err = s.Run(inputs, outputs) // tensors of package onnxruntime_go, in the order of s.Inputs and s.Outputs
//
// # Invariants
//
// A session is safe for concurrent use; its tensors are not, and whoever made one destroys
// it. The runtime does not retain tensors of Go, so they must be reachable while it uses
// them. Errors name files without their folders, which can contain the user's name.
package onnx
