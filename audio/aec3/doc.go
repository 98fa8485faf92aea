// Package aec3 is WebRTC's third echo canceller (AEC3), for builds without the native
// library. It is a WebAssembly module, which wazero compiles to machine code: it needs
// no cgo and no file beside the program, and is the same on every platform.
//
// # Model
//
// aec3.wasm is the file dist/webrtcaec3-0.3.0.wasm of npm @ennuicastr/webrtcaec3.js
// 0.3.0, unchanged. It imports a memory of a fixed size and a few functions that it calls
// only to report a fatal error. Each Canceller has a memory of its own; all share the
// compiled code.
//
// The caller's loop, for each frame of 10 ms at 16 kHz:
//
//	err := c.Process(far, near) // near is replaced
//
// The module has no function for its suppressor's parameters, so Suppress writes them to
// their addresses in its memory, which are checked.
//
// # Invariants
//
//   - The module is compiled once per process, when the first Canceller is created.
//   - Process does not allocate. The near end is delayed by Latency samples.
//   - After an error of Process, every later call fails until Reset.
//   - A machine on which wazero cannot compile gets an error, not an interpreter, which is
//     too slow for audio.
package aec3
