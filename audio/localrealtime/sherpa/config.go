package sherpa

// The rates and sizes of the features that all models of Kinds take.
const (
	sampleRate = 16000
	featureDim = 80
)

// provider is what ONNX Runtime computes with.
const provider = "cpu"

// withWords is the decoding that takes hot words, and wordScore what each of their
// tokens adds to the logarithm of its probability: the library's default.
const (
	withWords = "modified_beam_search"
	wordScore = 1.5
)

func (m *memory) online(model Model, threads int) *onlineConfig {
	c := &onlineConfig{features: featureConfig{sampleRate, featureDim}, decodingMethod: m.text("greedy_search"), maxActivePaths: 4}
	m.pinner.Pin(c)
	c.model.tokens, c.model.provider, c.model.numThreads = m.text(model.path("tokens")), m.text(provider), int32(threads)
	if model.takesWords() {
		c.decodingMethod, c.hotwordsScore = m.text(withWords), wordScore
		c.model.modelingUnit, c.model.bpeVocab = m.text("bpe"), m.text(model.path(bpeVocab))
	}
	switch model.Kind {
	case "streaming-transducer":
		c.model.transducer = m.transducer(model)
	case "streaming-nemo-ctc":
		c.model.nemoCTC.model = m.text(model.path("model"))
	}
	return c
}

func (m *memory) offline(model Model, threads int) *offlineConfig {
	c := &offlineConfig{features: featureConfig{sampleRate, featureDim}, decodingMethod: m.text("greedy_search"), maxActivePaths: 4}
	m.pinner.Pin(c)
	c.model.tokens, c.model.provider, c.model.numThreads = m.text(model.path("tokens")), m.text(provider), int32(threads)
	if model.takesWords() {
		c.decodingMethod, c.hotwordsScore = m.text(withWords), wordScore
		c.model.modelingUnit, c.model.bpeVocab = m.text("bpe"), m.text(model.path(bpeVocab))
	}
	switch model.Kind {
	case "transducer":
		c.model.transducer = m.transducer(model)
	case "nemo-transducer":
		c.model.transducer, c.model.modelType = m.transducer(model), m.text("nemo_transducer")
	case "nemo-ctc":
		c.model.nemoCTC.model = m.text(model.path("model"))
	case "whisper":
		c.model.whisper = whisperConfig{encoder: m.text(model.path("encoder")), decoder: m.text(model.path("decoder")), task: m.text("transcribe"), tailPaddings: -1}
		if len(model.Languages) == 1 { // of several it finds out which one
			c.model.whisper.language = m.text(model.Languages[0])
		}
	case "moonshine":
		c.model.moonshine = moonshineConfig{encoder: m.text(model.path("encoder")), mergedDecoder: m.text(model.path("merged_decoder"))}
	}
	return c
}

func (m *memory) transducer(model Model) transducerConfig {
	return transducerConfig{m.text(model.path("encoder")), m.text(model.path("decoder")), m.text(model.path("joiner"))}
}

func (m *memory) voice(model Model, threads int) *ttsConfig {
	// One sentence at a time, each with a callback of its own.
	c := &ttsConfig{provider: m.text(provider), numThreads: int32(threads), maxSentences: 1, silenceScale: 0.2}
	m.pinner.Pin(c)
	part := func(name string) *byte { return m.text(model.path(name)) }
	switch model.Kind {
	case "vits":
		c.vits = vitsConfig{
			model: part("model"), tokens: part("tokens"), dataDir: part("data"), lexicon: part("lexicon"),
			noiseScale: 0.667, noiseScaleW: 0.8, lengthScale: 1, // the defaults of Piper
		}
	case "kokoro":
		c.kokoro = kokoroConfig{
			model: part("model"), voices: part("voices"), tokens: part("tokens"), dataDir: part("data"), lexicon: part("lexicon"),
			lengthScale: 1,
		}
	case "supertonic":
		c.supertonic = supertonicConfig{
			part("duration_predictor"), part("text_encoder"), part("vector_estimator"), part("vocoder"),
			part("tts"), part("unicode_indexer"), part("voice_style"),
		}
	}
	return c
}
