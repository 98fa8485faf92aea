package smartturn

import (
	"math"
	"math/cmplx"
	"sync"

	"gonum.org/v1/gonum/dsp/fourier"
)

// Features of Smart Turn v3, which are those of Whisper: 8 s at 16 kHz.
const (
	turnSamples = 8 * 16000
	melBins     = 80
	melFrames   = turnSamples / melHop
	melHop      = 160 // samples
	melWindow   = 400 // samples
	melFloor    = 1e-10
	melRange    = 8 // decades below the loudest bin
)

// slaneyHz converts a position on Slaney's mel scale to Hz.
func slaneyHz(mel float64) float64 {
	if mel < 15 {
		return mel * 200 / 3
	}
	return 1000 * math.Exp(math.Log(6.4)/27*(mel-15))
}

// melFilters returns area-normalised triangular filters, indexed by mel bin and
// spectrum bin.
var melFilters = sync.OnceValue(func() [][]float64 {
	top := 15 + math.Log(8)*27/math.Log(6.4) // 8 kHz
	var edges [melBins + 2]float64
	for i := range edges {
		edges[i] = slaneyHz(top * float64(i) / float64(melBins+1))
	}
	filters := make([][]float64, melBins)
	for b := range filters {
		filters[b] = make([]float64, melWindow/2+1)
		low, mid, high := edges[b], edges[b+1], edges[b+2]
		for k := range filters[b] {
			hz := float64(k) * 16000 / melWindow
			filters[b][k] = max(0, min((hz-low)/(mid-low), (high-hz)/(high-mid))) * 2 / (high - low)
		}
	}
	return filters
})

// logMel computes the features of the last 8 s of pcm, indexed by bin and frame.
// Shorter audio is padded with leading silence. It follows WhisperFeatureExtractor of
// transformers with do_normalize.
func logMel(pcm []int16) []float32 {
	pcm = pcm[max(0, len(pcm)-turnSamples):]
	const edge = melWindow / 2 // frames are centred, with mirrored edges
	padded := make([]float64, turnSamples+2*edge)
	signal := padded[edge : edge+turnSamples]
	for i, s := range pcm {
		signal[turnSamples-len(pcm)+i] = float64(s) / 32768
	}
	normalise(signal)
	for i := range edge {
		padded[i], padded[edge+turnSamples+i] = signal[edge-i], signal[turnSamples-2-i]
	}

	fft, filters := fourier.NewFFT(melWindow), melFilters()
	var hann, frame [melWindow]float64
	for i := range hann {
		hann[i] = 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/melWindow)
	}
	spectrum, power := make([]complex128, melWindow/2+1), make([]float64, melWindow/2+1)
	logs, loudest := make([]float64, melBins*melFrames), math.Inf(-1)
	for t := range melFrames {
		for i, s := range padded[t*melHop : t*melHop+melWindow] {
			frame[i] = s * hann[i]
		}
		for k, c := range fft.Coefficients(spectrum, frame[:]) {
			a := cmplx.Abs(c)
			power[k] = a * a
		}
		for b, filter := range filters {
			sum := 0.0
			for k, weight := range filter {
				sum += weight * power[k]
			}
			v := math.Log10(max(sum, melFloor))
			logs[b*melFrames+t], loudest = v, max(loudest, v)
		}
	}
	features := make([]float32, len(logs))
	for i, v := range logs {
		features[i] = float32((max(v, loudest-melRange) + 4) / 4)
	}
	return features
}

// normalise scales a signal to mean 0 and variance 1.
func normalise(signal []float64) {
	var mean, variance float64
	for _, s := range signal {
		mean += s
	}
	mean /= float64(len(signal))
	for _, s := range signal {
		variance += (s - mean) * (s - mean)
	}
	deviation := math.Sqrt(variance/float64(len(signal)) + 1e-7)
	for i := range signal {
		signal[i] = (signal[i] - mean) / deviation
	}
}
