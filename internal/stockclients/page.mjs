// The page of webrtc.mjs.
import { OpenAIRealtimeWebRTC, RealtimeAgent, RealtimeSession, tool } from "/openai-realtime-agents.mjs";

const { base, key } = window.config;
let reports = Promise.resolve();
const report = (event) => {
  reports = reports.then(() => fetch("/report", { method: "POST", body: JSON.stringify(event) }));
};

const lookUp = tool({
  name: "lookUp",
  description: "Looks a word up.",
  strict: false,
  parameters: { type: "object", properties: { word: { type: "string" } }, required: ["word"], additionalProperties: true },
  execute: async ({ word }) => {
    report({ type: "call", word });
    return "disposed means inclined";
  },
});
const session = new RealtimeSession(new RealtimeAgent({ name: "Reader", instructions: "You answer in short sentences.", tools: [lookUp] }), {
  transport: new OpenAIRealtimeWebRTC({ baseUrl: `${base}/realtime/calls`, useInsecureApiKey: true }),
  model: "local",
  config: { audio: { input: { turnDetection: { type: "server_vad", silenceDurationMs: 500 } } } },
});
session.on("error", ({ error }) => report({ type: "failed", message: String(error?.message ?? JSON.stringify(error)) }));
session.on("transport_event", (e) => {
  switch (e.type) {
    case "conversation.item.input_audio_transcription.completed":
      report({ type: "user", text: e.transcript });
      break;
    case "conversation.item.truncated":
      report({ type: "truncated", ms: e.audio_end_ms });
      break;
    case "response.done": {
      const text = e.response.output.flatMap((item) => item.content ?? []).map((part) => part.transcript).join("");
      report({ type: "done", status: e.response.status, text });
    }
  }
});
session.connect({ apiKey: key }).catch((error) => report({ type: "failed", message: `connect: ${error?.message ?? error}` }));
