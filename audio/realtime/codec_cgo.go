//go:build cgo

package realtime

import (
	"github.com/hraban/opus"

	"github.com/agentvoice/agentvoice-daemon/audio"
)

func newEncoder() (encoder, error) {
	e, err := opus.NewEncoder(audio.SampleRate, 1, opus.AppVoIP)
	if err != nil {
		return nil, err
	}
	// Half the cost of the default complexity, at no loss that recognition
	// notices; in-band FEC lets the service repair single losses. No DTX: the
	// service counts time by the audio it gets.
	if err := e.SetComplexity(5); err != nil {
		return nil, err
	}
	if err := e.SetBitrate(32000); err != nil {
		return nil, err
	}
	if err := e.SetInBandFEC(true); err != nil {
		return nil, err
	}
	return e, e.SetPacketLossPerc(5)
}

func newDecoder() (decoder, error) { return opus.NewDecoder(audio.SampleRate, 1) }
