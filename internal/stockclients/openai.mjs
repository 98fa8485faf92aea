// OpenAI's Node library, unmodified, over WebSocket: three spoken turns, one with a call of
// a function, one that is interrupted.
import OpenAI from "openai";
import { OpenAIRealtimeWS } from "openai/realtime/ws";
import { Microphone } from "./microphone.mjs";
import { Record } from "./record.mjs";

export const name = "openai 7.57.0, OpenAIRealtimeWS";

export const prepare = async () => ({ converse });

async function converse({ base, key, ca, turns, say }) {
  const client = new OpenAI({ apiKey: key, baseURL: base });
  const rt = new OpenAIRealtimeWS({ model: "local", options: { ca } }, client);
  const record = new Record(say);
  const { seen, lookUp } = record;
  let playing; // the item whose audio this client plays: {id, began, ms}
  let interrupting = false;
  await new Promise((done, fail) => {
    let microphone;
    const end = (error) => {
      clearTimeout(late);
      microphone?.close();
      rt.close();
      error ? fail(error) : done();
    };
    const late = setTimeout(() => end(new Error("the conversation did not end in 90 s")), 90_000);
    rt.on("error", (error) => end(error));
    rt.on("session.created", () => {
      rt.send({
        type: "session.update",
        session: {
          type: "realtime",
          instructions: "You answer in short sentences.",
          audio: { input: { transcription: { model: "whisper-1" }, turn_detection: { type: "server_vad", silence_duration_ms: 500 } } },
          tools: [{ type: "function", name: lookUp.name, description: lookUp.description, parameters: { type: "object", properties: { word: { type: "string" } }, required: ["word"] } }],
        },
      });
    });
    rt.on("session.updated", () => {
      microphone = new Microphone((pcm) => rt.send({ type: "input_audio_buffer.append", audio: Buffer.from(pcm).toString("base64") }));
      microphone.say(turns[0]);
    });
    rt.on("event", (e) => record.event(e)); // before the handlers of its type
    rt.on("response.output_audio.delta", (e) => {
      const ms = Buffer.from(e.delta, "base64").length / 48;
      if (playing?.id !== e.item_id) playing = { id: e.item_id, began: performance.now(), ms: 0 };
      playing.ms += ms;
      // The user interrupts the long answer after 3 s.
      if (seen.statuses.length === 2 && !interrupting) {
        interrupting = true;
        setTimeout(() => microphone.say(turns[2]), 3000);
      }
    });
    rt.on("input_audio_buffer.speech_started", () => {
      if (playing === undefined) return;
      const heard = Math.floor(performance.now() - playing.began);
      if (heard < playing.ms) {
        rt.send({ type: "conversation.item.truncate", item_id: playing.id, content_index: 0, audio_end_ms: heard });
      }
      playing = undefined;
    });
    rt.on("response.function_call_arguments.done", (e) => {
      if (e.name !== lookUp.name) return end(new Error(`the function ${e.name} was called`));
      const output = lookUp.execute(JSON.parse(e.arguments));
      rt.send({ type: "conversation.item.create", item: { type: "function_call_output", call_id: e.call_id, output } });
    });
    rt.on("response.done", ({ response }) => {
      if (response.output.some((item) => item.type === "function_call")) rt.send({ type: "response.create" });
      // The user lets the second answer end.
      if (seen.statuses.length === 2) setTimeout(() => microphone.say(turns[1]), playing.began + playing.ms + 500 - performance.now());
      if (seen.statuses.length === 4) end();
    });
  });
  return seen;
}
