package copilot

import (
	"slices"
	"strings"
	"testing"
)

// The arrows by hand. A cell that changes, an order that does, or a state that
// can no longer be reached turns this red.
func TestEdges(t *testing.T) {
	want := strings.Split(strings.TrimSpace(`
callingTool/cancel/callingTool
callingTool/shut/idle
callingTool/toolDone/searchingTools
callingTool/toolDone [cancelled]/ready
callingTool/toolDone [more calls]/waitingForToolApproval
callingTool/toolFail/ready
callingTool/toolFail [cancelled]/ready
generatingResponse/attempt/generatingResponse
generatingResponse/cancel/generatingResponse
generatingResponse/fail/ready
generatingResponse/fail [cancelled]/ready
generatingResponse/shut/idle
generatingResponse/sign/streamingResponse
generatingResponse/terminal/ready
generatingResponse/terminal [cancelled]/ready
generatingResponse/wants/streamingResponse
idle/open/ready
idle/shut/idle
loadFailed/load/loadingModel
loadFailed/shut/idle
loadingModel/load/loadingModel
loadingModel/loaded/ready
loadingModel/progress/loadingModel
loadingModel/shut/idle
loadingModel/unloaded/loadFailed
ready/ask/waitingForToolApproval
ready/load/loadingModel
ready/search/searchingTools
ready/send/generatingResponse
ready/shut/idle
searchingTools/cancel/searchingTools
searchingTools/found/generatingResponse
searchingTools/found [cancelled]/ready
searchingTools/notFound/ready
searchingTools/notFound [cancelled]/ready
searchingTools/shut/idle
streamingResponse/cancel/streamingResponse
streamingResponse/fail/ready
streamingResponse/fail [cancelled]/ready
streamingResponse/shut/idle
streamingResponse/sign/streamingResponse
streamingResponse/terminal/ready
streamingResponse/terminal [cancelled]/ready
streamingResponse/terminal [it asks for calls]/waitingForToolApproval
streamingResponse/wants/streamingResponse
waitingForToolApproval/approve/callingTool
waitingForToolApproval/cancel/ready
waitingForToolApproval/reject/searchingTools
waitingForToolApproval/reject [more calls]/waitingForToolApproval
waitingForToolApproval/shut/idle
`), "\n")
	var got []string
	for _, e := range Edges() {
		got = append(got, e.From+"/"+e.On+"/"+e.To)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
