// What the clients of the Realtime protocol have in common: the function that the model calls,
// and the record of the conversation that run.mjs checks.
import { z } from "zod";

// Record is a conversation as a client of the Realtime protocol saw it.
export class Record {
  seen = { user: [], assistant: [], calls: [], statuses: [], truncatedAt: [] };
  #say;

  // say prints who said what.
  constructor(say) {
    this.#say = say;
  }

  // lookUp is the function, in the form that both frameworks take.
  lookUp = {
    name: "lookUp",
    description: "Looks a word up.",
    parameters: z.object({ word: z.string() }),
    execute: ({ word }) => {
      this.seen.calls.push({ name: "lookUp", word });
      this.#say("function", `lookUp(${JSON.stringify({ word })})`);
      return "disposed means inclined";
    },
  };

  // event takes an event of the server.
  event(e) {
    switch (e.type) {
      case "conversation.item.input_audio_transcription.completed":
        this.seen.user.push(e.transcript);
        this.#say("user", e.transcript);
        break;
      case "conversation.item.truncated":
        this.seen.truncatedAt.push(e.audio_end_ms);
        this.#say("", `(interrupted after ${e.audio_end_ms} ms)`);
        break;
      case "response.done": {
        this.seen.statuses.push(e.response.status);
        const text = e.response.output.flatMap((item) => item.content ?? []).map((part) => part.transcript).join("");
        if (text !== "") {
          this.seen.assistant.push(text);
          this.#say("assistant", text);
        }
      }
    }
  }
}
