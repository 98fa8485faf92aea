// OpenAI's Agents library, unmodified, over its WebSocket transport in Node: the same
// conversation. The library itself carries out the function and truncates what was
// interrupted.
import { OpenAIRealtimeWebSocket, RealtimeAgent, RealtimeSession, tool } from "@openai/agents-realtime";
import { WebSocket } from "ws";
import { Microphone } from "./microphone.mjs";
import { Record } from "./record.mjs";

export const name = "@openai/agents-realtime 0.20.0, RealtimeSession over WebSocket";

export const prepare = async () => ({ converse });

async function converse({ base, key, ca, turns, say }) {
  const record = new Record(say);
  const { seen } = record;
  const agent = new RealtimeAgent({ name: "Reader", instructions: "You answer in short sentences.", tools: [tool(record.lookUp)] });
  const url = `${base.replace(/^http/, "ws")}/realtime?model=local`;
  const transport = new OpenAIRealtimeWebSocket({
    url,
    createWebSocket: async () => new WebSocket(url, { ca, headers: { Authorization: `Bearer ${key}` } }),
  });
  const session = new RealtimeSession(agent, {
    transport,
    model: "local",
    config: { audio: { input: { turnDetection: { type: "server_vad", silenceDurationMs: 500 } } } },
  });
  let playing; // the audio that this client plays: {began, ms}
  let interrupting = false;
  await new Promise((done, fail) => {
    let microphone;
    const end = (error) => {
      clearTimeout(late);
      microphone?.close();
      session.close();
      error ? fail(error) : done();
    };
    const late = setTimeout(() => end(new Error("the conversation did not end in 90 s")), 90_000);
    session.on("error", ({ error }) => end(error instanceof Error ? error : new Error(JSON.stringify(error))));
    session.on("audio", ({ data }) => {
      playing ??= { began: performance.now(), ms: 0 };
      playing.ms += data.byteLength / 48;
      // The user interrupts the long answer after 3 s.
      if (seen.statuses.length === 2 && !interrupting) {
        interrupting = true;
        setTimeout(() => microphone.say(turns[2]), 3000);
      }
    });
    session.on("audio_interrupted", () => (playing = undefined));
    session.on("transport_event", (e) => {
      record.event(e);
      if (e.type !== "response.done") return;
      // The user lets the second answer end.
      if (seen.statuses.length === 2) {
        setTimeout(() => {
          playing = undefined;
          microphone.say(turns[1]);
        }, playing.began + playing.ms + 500 - performance.now());
      }
      if (seen.statuses.length === 4) end();
    });
    session.connect({ apiKey: key, url }).then(() => {
      microphone = new Microphone((pcm) => session.sendAudio(pcm));
      microphone.say(turns[0]);
    }, end);
  });
  return seen;
}
