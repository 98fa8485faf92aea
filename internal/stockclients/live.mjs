// OpenAI's Node library, unmodified, over the Live API: three spoken turns that the server
// delegates and this client answers, the second answer interrupted by the third turn.
import assert from "node:assert/strict";
import OpenAI from "openai";
import { LiveWS } from "openai/resources/live/ws";
import { Microphone } from "./microphone.mjs";

export const name = "openai 7.57.0, LiveWS";

export const prepare = async () => ({ converse });

const answers = [
  "The dictionary says: disposed means inclined.",
  "I will read you the whole list. The first entry is the library. The second entry is the garden. The third entry is the kitchen.",
  "All right, I stopped.",
];

async function converse({ base, key, ca, turns, say }) {
  const live = new LiveWS(new OpenAI({ apiKey: key, baseURL: base }), { ca });
  const seen = { user: [], assistant: [], delegations: [], accepted: [], audioMs: [0, 0, 0], closed: undefined };
  let microphone;
  let words = "";
  let until = 0; // when the audio that this client plays ends
  await new Promise((done, fail) => {
    const end = (error) => {
      clearTimeout(late);
      microphone?.close();
      live.close();
      error ? fail(error) : done();
    };
    const late = setTimeout(() => end(new Error("the conversation did not end in 90 s")), 90_000);
    const next = (after) => setTimeout(() => microphone.say(turns[seen.user.length]), after);
    live.on("error", (error) => end(error));
    live.on("session.started", () => {
      microphone = new Microphone((pcm) => live.send({ type: "session.input_audio.append", audio: Buffer.from(pcm).toString("base64") }));
      next(0);
    });
    live.on("session.input_transcript.delta", (e) => {
      words += e.delta;
      if (until > performance.now()) {
        // Nothing can be cancelled: what is left to be heard is dropped here.
        say("", `(${Math.round(until - performance.now())} ms are not played)`);
        until = 0;
      }
    });
    live.on("session.delegation.created", ({ delegation }) => {
      seen.delegations.push(delegation.id);
      say("user", words.trim());
      const turn = seen.user.push(words.trim()) - 1;
      words = "";
      live.send({ type: "session.commentary.append", delegation_id: delegation.id, content: answers[turn], event_id: `answer_${turn}` });
    });
    live.on("session.commentary.appended", (e) => seen.accepted.push(e.client_event_id));
    live.on("session.output_transcript.delta", (e) => {
      say("assistant", e.delta);
      const turn = seen.assistant.push(e.delta);
      if (turn < 3) next(turn === 1 ? 3000 : 1500); // the second answer is not heard to its end
      else setTimeout(() => live.send({ type: "session.close" }), 1000);
    });
    live.on("session.output_audio.delta", (e) => {
      const ms = Buffer.from(e.delta, "base64").length / 48;
      seen.audioMs[seen.assistant.length - 1] += ms;
      until = Math.max(until, performance.now()) + ms;
    });
    live.on("session.closed", (e) => {
      seen.closed = e.reason;
      end();
    });
    live.send({ type: "session.start", session: { model: "gpt-live-1", delegation: { type: "client" }, audio: { output: { voice: "marin" } } } });
  });
  return seen;
}

// check says what is wrong with the conversation, and returns what is to be told of it.
export function check(seen) {
  for (const text of seen.user) assert.ok(text.split(" ").length >= 3, `"${text}" was heard`);
  assert.equal(new Set(seen.delegations).size, 3, "three turns were delegated, each once");
  assert.deepEqual(seen.accepted, ["answer_0", "answer_1", "answer_2"], "each answer was accepted once");
  assert.deepEqual(seen.assistant, answers, "each answer is spoken once");
  const whole = answers.map((text) => (seen.audioMs[0] * text.length) / answers[0].length);
  assert.ok(whole[0] > 1500, `${seen.audioMs} ms of audio came`);
  assert.ok(seen.audioMs[1] < 0.8 * whole[1], `the second answer is interrupted: of some ${whole[1]} ms, ${seen.audioMs[1]} came`);
  assert.equal(seen.closed, "close_requested");
  return `3 turns delegated and answered, the second answer interrupted after ${Math.round(seen.audioMs[1])} of some ${Math.round(whole[1])} ms`;
}
