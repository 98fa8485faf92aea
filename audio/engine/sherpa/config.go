package sherpa

import "github.com/agentvoice/agentvoice-daemon/audio/engine"

// Feature rates and sizes that all models of Kinds use.
const (
	sampleRate = 16000
	featureDim = 80
)

// provider is the execution provider of ONNX Runtime.
const provider = "cpu"

// pauseScale shortens the pauses between sentences, as the library does by default.
const pauseScale = 0.2

// withWords is the decoding method that supports hot words. wordScore is what each of
// their tokens adds to its log probability, the library's default.
const (
	withWords = "modified_beam_search"
	wordScore = 1.5
)

func onlineOf(model engine.Model, threads int) *onlineConfig {
	c := &onlineConfig{features: featureConfig{sampleRate, featureDim}, decodingMethod: cString("greedy_search"), maxActivePaths: 4}
	c.model.tokens, c.model.provider, c.model.numThreads = cString(model.Path("tokens")), cString(provider), int32(threads)
	if takesWords(model) {
		c.decodingMethod, c.hotwordsScore = cString(withWords), wordScore
		c.model.modelingUnit, c.model.bpeVocab = cString("bpe"), cString(model.Path(engine.BPEVocab))
	}
	switch model.Kind {
	case "streaming-transducer":
		c.model.transducer = transducerOf(model)
	case "streaming-nemo-ctc":
		c.model.nemoCTC.model = cString(model.Path("model"))
	}
	return c
}

func offlineOf(model engine.Model, threads int) *offlineConfig {
	c := &offlineConfig{features: featureConfig{sampleRate, featureDim}, decodingMethod: cString("greedy_search"), maxActivePaths: 4}
	c.model.tokens, c.model.provider, c.model.numThreads = cString(model.Path("tokens")), cString(provider), int32(threads)
	if takesWords(model) {
		c.decodingMethod, c.hotwordsScore = cString(withWords), wordScore
		c.model.modelingUnit, c.model.bpeVocab = cString("bpe"), cString(model.Path(engine.BPEVocab))
	}
	switch model.Kind {
	case "transducer":
		c.model.transducer = transducerOf(model)
	case "nemo-transducer":
		c.model.transducer, c.model.modelType = transducerOf(model), cString("nemo_transducer")
	case "nemo-ctc":
		c.model.nemoCTC.model = cString(model.Path("model"))
	case "whisper":
		c.model.whisper = whisperConfig{encoder: cString(model.Path("encoder")), decoder: cString(model.Path("decoder")), task: cString("transcribe"), tailPaddings: -1}
		if len(model.Languages) == 1 { // with several, the model detects the language
			c.model.whisper.language = cString(model.Languages[0])
		}
	case "moonshine":
		c.model.moonshine = moonshineConfig{encoder: cString(model.Path("encoder")), mergedDecoder: cString(model.Path("merged_decoder"))}
	}
	return c
}

func transducerOf(model engine.Model) transducerConfig {
	return transducerConfig{cString(model.Path("encoder")), cString(model.Path("decoder")), cString(model.Path("joiner"))}
}

func voiceOf(model engine.Model, threads int) *ttsConfig {
	// One sentence at a time, each with its own callback.
	c := &ttsConfig{provider: cString(provider), numThreads: int32(threads), maxSentences: 1, silenceScale: pauseScale}
	part := func(name string) *byte { return cString(model.Path(name)) }
	switch model.Kind {
	case "vits":
		c.vits = vitsConfig{
			model: part("model"), tokens: part("tokens"), lexicon: part("lexicon"),
			noiseScale: 0.667, noiseScaleW: 0.8, lengthScale: 1, // the defaults of Piper
		}
	case "supertonic":
		c.supertonic = supertonicConfig{
			part("duration_predictor"), part("text_encoder"), part("vector_estimator"), part("vocoder"),
			part("tts"), part("unicode_indexer"), part("voice_style"),
		}
	}
	return c
}

// takesWords reports whether a model supports hot words.
func takesWords(model engine.Model) bool { return model.Files[engine.BPEVocab] != "" }
