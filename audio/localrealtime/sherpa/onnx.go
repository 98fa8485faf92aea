package sherpa

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/ebitengine/purego"
)

// ortVersion is the requested version of ONNX Runtime's function table. Later libraries
// also support it, because the table only grows.
const ortVersion = 17

// ortSlots maps functions to their index in that table, as in OrtApi of
// onnxruntime_c_api.h.
var ortSlots = map[string]int{
	"GetErrorMessage": 2, "CreateEnv": 3, "CreateSessionFromArray": 8, "Run": 9, "CreateSessionOptions": 10,
	"SetIntraOpNumThreads": 24, "SessionGetOutputName": 37, "CreateTensorWithDataAsOrtValue": 49,
	"GetTensorMutableData": 51, "GetTensorElementType": 60, "GetTensorShapeElementCount": 64,
	"GetTensorTypeAndShape": 65, "CreateCpuMemoryInfo": 69, "GetAllocatorWithDefaultOptions": 78,
	"ReleaseStatus": 93, "ReleaseValue": 96, "ReleaseTensorTypeAndShapeInfo": 99,
}

// ortTable is OrtApi up to the last function used.
type ortTable [100]uintptr

// ortBase is OrtApiBase.
type ortBase struct{ getAPI, getVersionString uintptr }

// Values of onnxruntime_c_api.h.
const (
	ortLogError       = 3 // ORT_LOGGING_LEVEL_ERROR
	ortFloat32        = 1 // ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT
	ortArenaAllocator = 1 // OrtArenaAllocator
	ortDefaultMemory  = 0 // OrtMemTypeDefault
)

// ort calls ONNX Runtime. It lives as long as the process.
type ort struct {
	table *ortTable
}

// loadRuntime loads ONNX Runtime.
func loadRuntime(path string) (*ort, error) {
	h, err := openLibrary(path)
	if err != nil {
		return nil, fmt.Errorf("cannot load ONNX Runtime; %s", installFix)
	}
	address, err := symbol(h, "OrtGetApiBase")
	if err != nil {
		return nil, fmt.Errorf("ONNX Runtime has no function OrtGetApiBase; %s", installFix)
	}
	var getBase func() *ortBase
	purego.RegisterFunc(&getBase, address)
	var getAPI func(version uint32) *ortTable
	purego.RegisterFunc(&getAPI, getBase().getAPI)
	table := getAPI(ortVersion)
	if table == nil {
		return nil, fmt.Errorf("ONNX Runtime is too old; %s", installFix)
	}
	return &ort{table: table}, nil
}

// call calls a function of the table that returns an OrtStatus.
func (o *ort) call(function string, args ...uintptr) error {
	status, _, _ := purego.SyscallN(o.table[ortSlots[function]], args...)
	if status == 0 {
		return nil
	}
	var message func(handle) *byte
	purego.RegisterFunc(&message, o.table[ortSlots["GetErrorMessage"]])
	err := errors.New(goString(message(handle(status))))
	o.release("ReleaseStatus", handle(status))
	return err
}

func (o *ort) release(function string, h handle) {
	purego.SyscallN(o.table[ortSlots[function]], uintptr(h))
}

// place returns the address that p points to. It is heap memory, which does not move,
// and a network keeps it alive.
func place[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

// network is a loaded model with one input and one relevant output. The memory that
// ONNX Runtime reads and writes is one allocation.
type network struct {
	*ort
	io *networkIO
}

// networkIO is the memory that calls of a network point to.
type networkIO struct {
	env, options, session, memory, allocator handle
	model                                    []byte
	data                                     []float32
	shape                                    []int64
	name, inputName, outputName              *byte
	input, output, info, count               handle
	kind                                     int32
	result                                   *float32
}

// loadNetwork loads a model. Only its first output is read.
func (o *ort) loadNetwork(model []byte, input string, shape []int64, threads int) (*network, error) {
	if len(model) == 0 {
		return nil, errors.New("the file is empty")
	}
	v := &networkIO{shape: shape, model: model, inputName: cString(input), name: cString("agentvoice")}
	size := int64(1)
	for _, d := range shape {
		size *= d
	}
	v.data = make([]float32, size)
	err := o.call("CreateEnv", ortLogError, place(v.name), place(&v.env))
	if err == nil {
		err = o.call("CreateSessionOptions", place(&v.options))
	}
	if err == nil {
		err = o.call("SetIntraOpNumThreads", uintptr(v.options), uintptr(threads))
	}
	if err == nil {
		err = o.call("CreateSessionFromArray", uintptr(v.env), place(&v.model[0]), uintptr(len(model)), uintptr(v.options), place(&v.session))
	}
	if err == nil {
		err = o.call("GetAllocatorWithDefaultOptions", place(&v.allocator))
	}
	if err == nil {
		err = o.call("SessionGetOutputName", uintptr(v.session), 0, uintptr(v.allocator), place(&v.outputName))
	}
	if err == nil {
		err = o.call("CreateCpuMemoryInfo", ortArenaAllocator, ortDefaultMemory, place(&v.memory))
	}
	if err == nil {
		err = o.call("CreateTensorWithDataAsOrtValue", uintptr(v.memory), place(&v.data[0]), uintptr(4*size),
			place(&v.shape[0]), uintptr(len(shape)), ortFloat32, place(&v.input))
	}
	return &network{ort: o, io: v}, err
}

// run computes the output, which must be a single number.
func (n *network) run(input []float32) (float64, error) {
	v := n.io
	copy(v.data, input)
	v.output = 0
	err := n.call("Run", uintptr(v.session), 0, place(&v.inputName), place(&v.input), 1, place(&v.outputName), 1, place(&v.output))
	if err != nil {
		return 0, err
	}
	defer n.release("ReleaseValue", v.output)
	if err := n.call("GetTensorTypeAndShape", uintptr(v.output), place(&v.info)); err != nil {
		return 0, err
	}
	defer n.release("ReleaseTensorTypeAndShapeInfo", v.info)
	if err := n.call("GetTensorElementType", uintptr(v.info), place(&v.kind)); err != nil {
		return 0, err
	}
	if err := n.call("GetTensorShapeElementCount", uintptr(v.info), place(&v.count)); err != nil {
		return 0, err
	}
	if v.kind != ortFloat32 || v.count != 1 {
		return 0, errors.New("its output is not one 32-bit number")
	}
	if err := n.call("GetTensorMutableData", uintptr(v.output), place(&v.result)); err != nil {
		return 0, err
	}
	return float64(*v.result), nil
}
