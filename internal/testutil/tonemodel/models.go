package tonemodel

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// describe writes a model's files and its description.
func describe(dir, name, kind string, files map[string][]byte, parts map[string]string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	description, err := json.Marshal(map[string]any{"name": name, "kind": kind, "files": parts, "languages": []string{}})
	if err != nil {
		return err
	}
	files["model.json"] = description
	for file, content := range files {
		if err := os.WriteFile(filepath.Join(dir, file), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// CTC writes an offline recognizer with the architecture of NeMo's CTC models.
func CTC(dir string) error {
	g := &graph{metadata: map[string]string{
		"vocab_size": strconv.Itoa(tokens), "subsampling_factor": "4", "normalize_type": "NA",
		"model_type": "EncDecCTCModelBPE", "version": "1", "model_author": "agentvoice", "comment": "tone language",
	}}
	g.input("audio_signal", float32s, "batch", mels, "time")
	g.input("length", int64s, "batch")
	g.output("logprobs", float32s, "batch", "frames", tokens)
	g.letterScores("AveragePool", 4, slaney(8000))
	g.node("LogSoftmax", []string{"scores"}, []string{"logprobs"}, attributes{"axis": -1})
	return describe(dir, "tone-ctc", "nemo-ctc",
		map[string][]byte{"model.onnx": g.bytes(), "tokens.txt": []byte(tokenFile())},
		map[string]string{"model": "model.onnx", "tokens": "tokens.txt"})
}

// StreamingCTC writes a recognizer with partial results, with the architecture of
// NeMo's cache-aware CTC models.
func StreamingCTC(dir string) error {
	g := &graph{metadata: map[string]string{
		"vocab_size": strconv.Itoa(tokens - 1), "subsampling_factor": "4", "normalize_type": "NA",
		"model_type": "EncDecCTCModelBPE", "window_size": "32", "chunk_shift": "32",
		"cache_last_channel_dim1": "1", "cache_last_channel_dim2": "1", "cache_last_channel_dim3": "1",
		"cache_last_time_dim1": "1", "cache_last_time_dim2": "1", "cache_last_time_dim3": "1",
	}}
	g.input("audio_signal", float32s, "batch", mels, "time")
	g.input("length", int64s, "batch")
	g.input("cache_last_channel", float32s, "batch", 1, 1, 1)
	g.input("cache_last_time", float32s, "batch", 1, 1, 1)
	g.input("cache_last_channel_len", int64s, "batch")
	g.output("logprobs", float32s, "batch", "frames", tokens)
	g.output("encoded_lengths", int64s, "batch")
	g.output("cache_last_channel_next", float32s, "batch", 1, 1, 1)
	g.output("cache_last_time_next", float32s, "batch", 1, 1, 1)
	g.output("cache_last_channel_next_len", int64s, "batch")
	g.letterScores("AveragePool", 4, slaney(8000))
	g.node("LogSoftmax", []string{"scores"}, []string{"logprobs"}, attributes{"axis": -1})
	// Letters need no context, so the caches do not change.
	for _, pair := range [][2]string{
		{"length", "encoded_lengths"}, {"cache_last_channel", "cache_last_channel_next"},
		{"cache_last_time", "cache_last_time_next"}, {"cache_last_channel_len", "cache_last_channel_next_len"},
	} {
		g.node("Identity", pair[:1], pair[1:], nil)
	}
	return describe(dir, "tone-streaming", "streaming-nemo-ctc",
		map[string][]byte{"model.onnx": g.bytes(), "tokens.txt": []byte(tokenFile())},
		map[string]string{"model": "model.onnx", "tokens": "tokens.txt"})
}

// chunk is a letter and its pause, in frames of 10 ms.
const chunk = (letterTime + pauseTime) / 10

// StreamingTransducer writes a recognizer with partial results, with the architecture
// of icefall's streaming LSTM transducers and the tokens of their BPE models, so that
// it supports hot words. It recognizes one letter per quarter of a second.
func StreamingTransducer(dir string) error {
	var list, vocabulary strings.Builder
	vocabulary.WriteString("<blk>\t0\n")
	list.WriteString("<blk> 0\n")
	for k := range letters {
		token := string(rune('a' + k))
		if k == letters-1 {
			token = "▁"
		}
		fmt.Fprintf(&list, "%s %d\n", token, k+1)
		fmt.Fprintf(&vocabulary, "%s\t-1\n", token)
	}
	return describe(dir, "tone-transducer", "streaming-transducer",
		map[string][]byte{
			"encoder.onnx": lstmEncoder(), "decoder.onnx": statelessDecoder(), "joiner.onnx": scoreJoiner(),
			"tokens.txt": []byte(list.String()), "bpe.vocab": []byte(vocabulary.String()),
		},
		map[string]string{
			"encoder": "encoder.onnx", "decoder": "decoder.onnx", "joiner": "joiner.onnx", "tokens": "tokens.txt", "bpe_vocab": "bpe.vocab",
		})
}

// lstmEncoder scores the letters in each chunk, with the blank as the first token.
func lstmEncoder() []byte {
	frames := strconv.Itoa(chunk)
	g := &graph{metadata: map[string]string{
		"model_type": "lstm", "version": "1", "model_author": "agentvoice",
		"num_encoder_layers": "1", "T": frames, "decode_chunk_len": frames, "rnn_hidden_size": "1", "d_model": "1",
	}}
	g.input("x", float32s, "batch", "time", mels)
	g.input("h0", float32s, 1, "batch", 1)
	g.input("c0", float32s, 1, "batch", 1)
	g.output("encoder_out", float32s, "batch", "frames", tokens)
	g.output("next_h0", float32s, 1, "batch", 1)
	g.output("next_c0", float32s, 1, "batch", 1)
	g.node("Transpose", []string{"x"}, []string{"audio_signal"}, attributes{"perm": []int{0, 2, 1}})
	g.letterScores("MaxPool", chunk, kaldi)
	order := []int64{blank}
	for k := range int64(letters) {
		order = append(order, k)
	}
	g.ints("order", order...)
	g.node("Gather", []string{"scores", "order"}, []string{"encoder_out"}, attributes{"axis": 2})
	g.node("Identity", []string{"h0"}, []string{"next_h0"}, nil)
	g.node("Identity", []string{"c0"}, []string{"next_c0"}, nil)
	return g.bytes()
}

// statelessDecoder has no state: a letter does not depend on the previous one.
func statelessDecoder() []byte {
	g := &graph{metadata: map[string]string{"vocab_size": strconv.Itoa(tokens), "context_size": "1"}}
	g.input("y", int64s, "batch", 1)
	g.output("decoder_out", float32s, "batch", 1)
	g.node("Cast", []string{"y"}, []string{"decoder_out"}, attributes{"to": float32s})
	return g.bytes()
}

// scoreJoiner passes the letters' scores on.
func scoreJoiner() []byte {
	g := &graph{metadata: map[string]string{"joiner_dim": strconv.Itoa(tokens)}}
	g.input("encoder_out", float32s, "batch", tokens)
	g.input("decoder_out", float32s, "batch", 1)
	g.output("logit", float32s, "batch", tokens)
	g.node("Identity", []string{"encoder_out"}, []string{"logit"}, nil)
	return g.bytes()
}

// TDT writes an offline recognizer with the architecture of NeMo's token-and-duration
// transducers, such as Parakeet TDT.
func TDT(dir string) error {
	return describe(dir, "tone-tdt", "nemo-transducer",
		map[string][]byte{
			"encoder.onnx": tdtEncoder(), "decoder.onnx": tdtDecoder(), "joiner.onnx": tdtJoiner(),
			"tokens.txt": []byte(tokenFile()),
		},
		map[string]string{"encoder": "encoder.onnx", "decoder": "decoder.onnx", "joiner": "joiner.onnx", "tokens": "tokens.txt"})
}

// tdtEncoder scores the letters in each frame.
func tdtEncoder() []byte {
	g := &graph{metadata: map[string]string{
		"vocab_size": strconv.Itoa(tokens - 1), "subsampling_factor": "8", "normalize_type": "NA",
		"pred_rnn_layers": "1", "pred_hidden": "1", "feat_dim": strconv.Itoa(mels), "url": "tone-tdt",
		"model_type": "EncDecRNNTBPEModel", "version": "2",
	}}
	g.input("audio_signal", float32s, "batch", mels, "time")
	g.input("length", int64s, "batch")
	g.output("outputs", float32s, "batch", tokens, "frames")
	g.output("encoded_lengths", int64s, "batch")
	g.letterScores("AveragePool", 8, slaney(7600))
	g.ints("eight", 8)
	g.node("Transpose", []string{"scores"}, []string{"outputs"}, attributes{"perm": []int{0, 2, 1}})
	g.node("Div", []string{"length", "eight"}, []string{"encoded_lengths"}, nil)
	return g.bytes()
}

// tdtDecoder has no state: a letter does not depend on the previous ones.
func tdtDecoder() []byte {
	g := &graph{}
	g.input("targets", int32s, "batch", 1)
	g.input("target_length", int32s, "batch")
	g.input("states.1", float32s, 1, "batch", 1)
	g.input("onnx::Slice_3", float32s, 1, "batch", 1)
	g.output("outputs", float32s, "batch", 1, 1)
	g.output("prednet_lengths", int32s, "batch")
	g.output("states", float32s, 1, "batch", 1)
	g.output("162", float32s, 1, "batch", 1)
	g.ints("last", 2)
	g.node("Cast", []string{"targets"}, []string{"target"}, attributes{"to": float32s})
	g.node("Unsqueeze", []string{"target", "last"}, []string{"outputs"}, nil)
	g.node("Identity", []string{"target_length"}, []string{"prednet_lengths"}, nil)
	g.node("Identity", []string{"states.1"}, []string{"states"}, nil)
	g.node("Identity", []string{"onnx::Slice_3"}, []string{"162"}, nil)
	return g.bytes()
}

// tdtJoiner passes the letters' scores on, and scores the durations of 0 to 4 frames:
// 3 after a letter, so that each is recognized once, and 1 after a blank.
func tdtJoiner() []byte {
	const durations = 5
	g := &graph{}
	g.input("encoder_outputs", float32s, 1, tokens, 1)
	g.input("decoder_outputs", float32s, 1, 1, 1)
	g.output("outputs", float32s, 1, 1, 1, tokens+durations)
	g.ints("last", 2)
	g.ints("both", 1, 2)
	g.ints("zero", 0)
	g.ints("end", letters)
	g.ints("one", 1)
	g.floats("never", []float32{-99}, 1, 1)
	g.floats("silence", []float32{threshold}, 1, 1)
	g.node("Squeeze", []string{"encoder_outputs", "last"}, []string{"all"}, nil)
	g.node("Slice", []string{"all", "zero", "end", "one"}, []string{"letters"}, nil)
	g.node("ReduceMax", []string{"letters"}, []string{"loudest"}, attributes{"axes": []int{1}, "keepdims": 1})
	g.node("Concat", []string{"all", "never", "silence", "never", "loudest", "never"}, []string{"joined"}, attributes{"axis": 1})
	g.node("Unsqueeze", []string{"joined", "both"}, []string{"outputs"}, nil)
	return g.bytes()
}

// The voice's sample rate, and the length of a phoneme in samples.
const (
	VoiceRate   = 22050
	phonemeSize = 512
)

// spelled are the characters of the voice; the first one is silent.
const spelled = " !',-.:;?0123456789abcdefghijklmnopqrstuvwxyz"

// Voice writes a voice that speaks each character as a tone.
func Voice(dir string) error {
	all := []rune(spelled)
	table := make([]float32, len(all)*phonemeSize)
	var list strings.Builder
	for i, p := range all {
		fmt.Fprintf(&list, "%c %d\n", p, i)
		if i == 0 {
			continue
		}
		f := 200 + 60*float64(i)
		for j := range phonemeSize {
			table[i*phonemeSize+j] = float32(0.4 * math.Sin(2*math.Pi*f*float64(j)/VoiceRate))
		}
	}
	g := &graph{metadata: map[string]string{
		"model_type": "vits", "comment": "coqui", "language": "English", "frontend": "characters", "use_eos_bos": "0",
		"n_speakers": "1", "sample_rate": strconv.Itoa(VoiceRate), "add_blank": "0",
	}}
	g.floats("table", table, int64(len(all)), phonemeSize)
	g.ints("shape", 1, 1, -1)
	g.input("input", int64s, "batch", "length")
	g.input("input_lengths", int64s, "batch")
	g.input("scales", float32s, 3)
	g.output("output", float32s, 1, 1, "samples")
	g.node("Gather", []string{"table", "input"}, []string{"tones"}, attributes{"axis": 0})
	g.node("Reshape", []string{"tones", "shape"}, []string{"output"}, nil)
	return describe(dir, "tone-voice", "vits",
		map[string][]byte{"model.onnx": g.bytes(), "tokens.txt": []byte(list.String())},
		map[string]string{"model": "model.onnx", "tokens": "tokens.txt"})
}

// TurnEnd writes an end-of-turn model with the input and output of Smart Turn v3. An
// utterance that ends with a tone below 1 kHz is complete; one that ends with a tone
// above it is not.
func TurnEnd(dir string) error {
	const frames, heard, low = 800, 60, 25 // 25 mel bins reach up to 1 kHz
	weights := make([]float32, mels)
	for i := range weights {
		weights[i] = -8.0 * low / (mels - low) // silence has equal energy in every bin, which is neutral
		if i < low {
			weights[i] = 8
		}
	}
	g := &graph{}
	g.input("input_features", float32s, "batch", mels, frames)
	g.output("logits", float32s, "batch", 1)
	g.ints("from", frames-heard)
	g.ints("to", frames)
	g.ints("time", 2)
	g.floats("weights", weights, mels, 1)
	g.node("Slice", []string{"input_features", "from", "to", "time"}, []string{"end"}, nil)
	g.node("ReduceMean", []string{"end"}, []string{"bins"}, attributes{"axes": []int{2}, "keepdims": 0})
	g.node("MatMul", []string{"bins", "weights"}, []string{"score"}, nil)
	g.node("Sigmoid", []string{"score"}, []string{"logits"}, nil)
	return describe(dir, "tone-turn-end", "smart-turn", map[string][]byte{"model.onnx": g.bytes()}, map[string]string{"model": "model.onnx"})
}
