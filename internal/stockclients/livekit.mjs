// LiveKit Agents with its OpenAI plugin, unmodified, without a room or a LiveKit server: the
// same conversation. The framework itself carries out the function, stops playback when the
// user interrupts, and truncates what was interrupted.
import { initializeLogger, llm, log, voice } from "@livekit/agents";
import { realtime } from "@livekit/agents-plugin-openai";
import { AudioFrame } from "@livekit/rtc-node";
import assert from "node:assert/strict";
import { Microphone } from "./microphone.mjs";
import { Record } from "./record.mjs";

export const name = "@livekit/agents 1.9.0 with its OpenAI plugin, AgentSession over WebSocket";

// The plugin has no option for a certificate.
export const tls = false;

export const prepare = async () => ({ converse });

const rate = 24000;

// AudioIn delivers the microphone's audio to the framework.
class AudioIn extends voice.AudioInput {
  #controller;

  constructor() {
    super();
    this.multiStream.addInputStream(new ReadableStream({ start: (controller) => (this.#controller = controller) }));
  }

  push(pcm) {
    this.#controller.enqueue(new AudioFrame(new Int16Array(pcm), rate, 1, pcm.byteLength / 2));
  }
}

// AudioOut plays by the clock and tells the framework how much of an answer was heard.
class AudioOut extends voice.AudioOutput {
  #began = 0;
  #ms = 0;
  #end;

  constructor() {
    super(rate);
  }

  async captureFrame(frame) {
    await super.captureFrame(frame);
    if (this.#ms === 0) {
      this.#began = performance.now();
      this.onPlaybackStarted(Date.now());
    }
    this.#ms += (frame.samplesPerChannel / frame.sampleRate) * 1000;
  }

  flush() {
    super.flush();
    if (this.#ms > 0) this.#end = setTimeout(() => this.#finish(false), this.#began + this.#ms - performance.now());
  }

  clearBuffer() {
    clearTimeout(this.#end);
    if (this.#ms > 0) this.#finish(true);
  }

  #finish(interrupted) {
    const heard = interrupted ? Math.min(performance.now() - this.#began, this.#ms) : this.#ms;
    this.#ms = 0;
    this.onPlaybackFinished({ playbackPosition: heard / 1000, interrupted });
  }
}

async function converse({ base, key, turns, say }) {
  const record = new Record(say);
  const { seen } = record;
  // The plugin reports the server's events on its session, which the framework creates.
  class Model extends realtime.RealtimeModel {
    session() {
      return super.session().on("openai_server_event_received", (e) => record.event(e));
    }
  }
  initializeLogger({ pretty: false, level: "fatal" });
  const model = new Model({ baseURL: base, apiKey: key, model: "local", turnDetection: { type: "server_vad", silence_duration_ms: 500, create_response: true, interrupt_response: true } });
  // The server detects turns. By default the framework would also ignore the microphone for the
  // first 3 s of playback.
  const session = new voice.AgentSession({ llm: model, vad: null, aecWarmupDuration: null, turnHandling: { turnDetection: "realtime_llm" } });
  const audioIn = new AudioIn();
  const audioOut = new AudioOut();
  session.input.audio = audioIn;
  session.output.audio = audioOut;
  let microphone;
  let late;
  try {
    await new Promise((done, fail) => {
      late = setTimeout(() => fail(new Error("the conversation did not end in 90 s")), 90_000);
      // The plugin only logs what it could not process.
      log().error = (...about) => fail(new Error(about.map((a) => a?.error?.message ?? a?.message ?? a).join(": ")));
      session.on("error", ({ error }) => fail(error.error ?? error));
      session.on("close", ({ reason }) => fail(new Error(`the session ended: ${reason}`)));
      audioOut.on("playbackStarted", () => {
        // The user interrupts the long answer after 3 s.
        if (seen.statuses.length === 2) setTimeout(() => microphone.say(turns[2]), 3000);
      });
      audioOut.on("playbackFinished", ({ interrupted }) => {
        // The user lets the second answer end.
        if (seen.statuses.length === 2 && !interrupted) setTimeout(() => microphone.say(turns[1]), 500);
      });
      session.on("conversation_item_added", () => {
        if (seen.statuses.length === 4) done();
      });
      session.start({ agent: new voice.Agent({ instructions: "You answer in short sentences.", tools: [llm.tool(record.lookUp)] }), record: false }).then(() => {
        microphone = new Microphone((pcm) => audioIn.push(pcm));
        microphone.say(turns[0]);
      }, fail);
    });
    const history = session.history.items.filter((item) => item.type === "message").map((item) => [item.role, item.textContent, item.interrupted]);
    assert.deepEqual(
      history,
      [0, 1, 2].flatMap((i) => [["user", seen.user[i], false], ["assistant", seen.assistant[i], i === 1]]),
      "the framework remembers the conversation as it was",
    );
  } finally {
    clearTimeout(late);
    microphone?.close();
    await session.close();
  }
  return seen;
}
