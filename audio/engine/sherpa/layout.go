package sherpa

// The structures of sherpa-onnx/c-api/c-api.h as of Version, with their C names.
// Pointers have 8 bytes, int32_t and float 4. TestLayout compares them with the values
// that the library reports it received.

type transducerConfig struct{ encoder, decoder, joiner *byte }

type featureConfig struct{ sampleRate, featureDim int32 }

type homophoneConfig struct{ dictDir, lexicon, ruleFsts *byte }

type ctcFstConfig struct {
	graph     *byte
	maxActive int32
}

type onlineModelConfig struct {
	transducer       transducerConfig
	paraformer       struct{ encoder, decoder *byte }
	zipformer2CTC    struct{ model *byte }
	tokens           *byte
	numThreads       int32
	provider         *byte
	debug            int32
	modelType        *byte
	modelingUnit     *byte
	bpeVocab         *byte
	tokensBuffer     *byte
	tokensBufferSize int32
	nemoCTC, tOneCTC struct{ model *byte }
}

type onlineConfig struct {
	features            featureConfig
	model               onlineModelConfig
	decodingMethod      *byte
	maxActivePaths      int32
	enableEndpoint      int32
	rule1, rule2, rule3 float32
	hotwordsFile        *byte
	hotwordsScore       float32
	ctcFst              ctcFstConfig
	ruleFsts, ruleFars  *byte
	blankPenalty        float32
	hotwordsBuffer      *byte
	hotwordsBufferSize  int32
	homophones          homophoneConfig
}

type whisperConfig struct {
	encoder, decoder, language, task   *byte
	tailPaddings                       int32
	tokenTimestamps, segmentTimestamps int32
}

type moonshineConfig struct {
	preprocessor, encoder, uncachedDecoder, cachedDecoder, mergedDecoder *byte
}

type offlineModelConfig struct {
	transducer   transducerConfig
	paraformer   struct{ model *byte }
	nemoCTC      struct{ model *byte }
	whisper      whisperConfig
	tdnn         struct{ model *byte }
	tokens       *byte
	numThreads   int32
	debug        int32
	provider     *byte
	modelType    *byte
	modelingUnit *byte
	bpeVocab     *byte
	telespeech   *byte
	senseVoice   struct {
		model, language *byte
		useITN          int32
	}
	moonshine    moonshineConfig
	fireRed      struct{ encoder, decoder *byte }
	dolphin      struct{ model *byte }
	zipformerCTC struct{ model *byte }
	canary       struct {
		encoder, decoder, sourceLanguage, targetLanguage *byte
		usePunctuation                                   int32
	}
	wenetCTC, omnilingual, medASR struct{ model *byte }
	funASRNano                    struct {
		encoderAdaptor, llm, embedding, tokenizer, systemPrompt, userPrompt *byte
		maxNewTokens                                                        int32
		temperature, topP                                                   float32
		seed                                                                int32
		language                                                            *byte
		itn                                                                 int32
		hotwords                                                            *byte
	}
	fireRedCTC struct{ model *byte }
	qwen3      struct {
		frontend, encoder, decoder, tokenizer *byte
		maxTotalLength, maxNewTokens          int32
		temperature, topP                     float32
		seed                                  int32
		hotwords                              *byte
	}
	cohere struct {
		encoder, decoder, language *byte
		usePunctuation, useITN     int32
	}
}

type offlineConfig struct {
	features featureConfig
	model    offlineModelConfig
	lm       struct {
		model *byte
		scale float32
	}
	decodingMethod     *byte
	maxActivePaths     int32
	hotwordsFile       *byte
	hotwordsScore      float32
	ruleFsts, ruleFars *byte
	blankPenalty       float32
	homophones         homophoneConfig
	ctcFst             ctcFstConfig
}

type vitsConfig struct {
	model, lexicon, tokens, dataDir      *byte
	noiseScale, noiseScaleW, lengthScale float32
	dictDir                              *byte
}

type supertonicConfig struct {
	durationPredictor, textEncoder, vectorEstimator, vocoder, ttsJSON, unicodeIndexer, voiceStyle *byte
}

type ttsConfig struct {
	vits       vitsConfig
	numThreads int32
	debug      int32
	provider   *byte
	matcha     struct {
		acousticModel, vocoder, lexicon, tokens, dataDir *byte
		noiseScale, lengthScale                          float32
		dictDir                                          *byte
	}
	kokoro struct {
		model, voices, tokens, dataDir *byte
		lengthScale                    float32
		dictDir, lexicon, language     *byte
	}
	kitten struct {
		model, voices, tokens, dataDir *byte
		lengthScale                    float32
		lexicon                        *byte
	}
	zipvoice struct {
		tokens, encoder, decoder, vocoder, dataDir, lexicon *byte
		featScale, tShift, targetRMS, guidanceScale         float32
	}
	pocket struct {
		lmFlow, lmMain, encoder, decoder, textConditioner, vocab, tokenScores *byte
		voiceCache                                                            int32
	}
	supertonic   supertonicConfig
	ruleFsts     *byte
	maxSentences int32
	ruleFars     *byte
	silenceScale float32
}

// generationConfig is how a text is spoken.
type generationConfig struct {
	silenceScale, speed         float32
	speaker                     int32
	reference                   *float32
	referenceLen, referenceRate int32
	referenceText               *byte
	steps                       int32
	extra                       *byte // JSON
	phonemes, phonemeLens       *int32
	phonemeSentences            int32
	tokens                      **byte
	tokenLens                   *int32
	tokenSentences              int32
}

// generatedAudio is the result of a synthesis.
type generatedAudio struct {
	samples       *float32
	n, sampleRate int32
}
