package sherpa

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Version is the only supported version of sherpa-onnx.
const Version = "2.0.1"

// handle is a pointer that is opaque to Go.
type handle uintptr

// library holds functions of sherpa-onnx: each field has the function's name without
// the prefix SherpaOnnx.
type library struct {
	GetVersionStr func() *byte

	CreateOfflineRecognizer         func(*offlineConfig) handle
	CreateOfflineStream             func(handle) handle
	CreateOfflineStreamWithHotwords func(recognizer handle, words string) handle
	DestroyOfflineStream            func(handle)
	AcceptWaveformOffline           func(stream handle, rate int32, samples *float32, n int32)
	DecodeOfflineStream             func(recognizer, stream handle)
	GetOfflineStreamResultAsJson    func(handle) *byte
	DestroyOfflineStreamResultJson  func(*byte)
	CreateOnlineRecognizer          func(*onlineConfig) handle
	CreateOnlineStream              func(handle) handle
	CreateOnlineStreamWithHotwords  func(recognizer handle, words string) handle
	DestroyOnlineStream             func(handle)
	OnlineStreamAcceptWaveform      func(stream handle, rate int32, samples *float32, n int32)
	OnlineStreamInputFinished       func(handle)
	IsOnlineStreamReady             func(recognizer, stream handle) int32
	DecodeOnlineStream              func(recognizer, stream handle)
	GetOnlineStreamResultAsJson     func(recognizer, stream handle) *byte
	DestroyOnlineStreamResultJson   func(*byte)
	CreateOfflineTts                func(*ttsConfig) handle
	OfflineTtsSampleRate            func(handle) int32
	OfflineTtsNumSpeakers           func(handle) int32
	OfflineTtsGenerateWithConfig    func(tts handle, text string, how *generationConfig, callback, arg uintptr) *generatedAudio
	DestroyOfflineTtsGeneratedAudio func(*generatedAudio)
}

// installFix says how to install the libraries.
const installFix = "install it with `agentvoice-daemon models install engine`"

// errWrongVersion rejects a library whose structure layouts may differ.
var errWrongVersion = errors.New("sherpa-onnx has the wrong version")

// loadLibrary loads sherpa-onnx. It fails unless the version is exactly Version. ONNX
// Runtime is loaded first, so that sherpa-onnx finds it without a search path.
func loadLibrary(runtime, sherpa string) (*library, error) {
	var h uintptr
	for _, path := range []string{runtime, sherpa} {
		var err error
		// Omit the loader's message, which contains folder names.
		if h, err = openLibrary(path); err != nil {
			return nil, fmt.Errorf("cannot load the library %s; %s", filepath.Base(path), installFix)
		}
	}
	l := &library{}
	if err := register(h, "GetVersionStr", &l.GetVersionStr); err != nil {
		return nil, err
	}
	if v := goString(l.GetVersionStr()); v != Version {
		return nil, fmt.Errorf("%w: %s, and only %s can be used; %s", errWrongVersion, v, Version, installFix)
	}
	fields := reflect.ValueOf(l).Elem()
	for i := range fields.NumField() {
		if err := register(h, fields.Type().Field(i).Name, fields.Field(i).Addr().Interface()); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func register(h uintptr, name string, f any) error {
	address, err := symbol(h, "SherpaOnnx"+name)
	if err != nil {
		return fmt.Errorf("sherpa-onnx has no function SherpaOnnx%s; %s", name, installFix)
	}
	purego.RegisterFunc(f, address)
	return nil
}

// goString copies a C string.
func goString(p *byte) string {
	if p == nil {
		return ""
	}
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(p, n))
}

// cString returns s as a C string, or nil if empty. Go's heap does not move, and the
// structure that holds the result keeps it alive; the libraries copy their arguments.
func cString(s string) *byte {
	if s == "" {
		return nil
	}
	return &append([]byte(s), 0)[0]
}

// listener receives the audio of sentenceCallback. The child synthesises one text at a
// time.
var listener struct {
	sync.Mutex
	emit func(samples []float32) bool
}

// sentenceCallback returns the C callback for the audio of each sentence, which returns
// 0 to stop the synthesis. Such callbacks are never freed, so there is only one.
var sentenceCallback = sync.OnceValue(func() uintptr {
	return purego.NewCallback(func(samples *float32, n int32) uintptr { // without the rest: Windows has no callbacks with floats
		listener.Lock()
		emit := listener.emit
		listener.Unlock()
		if emit(unsafe.Slice(samples, int(n))) {
			return 1
		}
		return 0
	})
})
