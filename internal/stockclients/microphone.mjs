// A microphone that says recordings of a person, in real time, with silence between them.
import { readFileSync } from "node:fs";

const rate = 24000; // of the protocol
const chunkMs = 40;

// recording reads a WAV file of 16 kHz, 16 bits, mono, as samples at the protocol's rate.
export function recording(file) {
  const wav = readFileSync(file);
  const from = new Int16Array(wav.buffer.slice(wav.byteOffset + 44, wav.byteOffset + 44 + 2 * Math.floor((wav.length - 44) / 2)));
  const to = new Int16Array(Math.floor((from.length * rate) / 16000));
  for (let i = 0; i < to.length; i++) {
    const at = (i * 16000) / rate;
    const before = from[Math.floor(at)];
    const after = from[Math.min(Math.floor(at) + 1, from.length - 1)];
    to[i] = before + (after - before) * (at % 1);
  }
  return to;
}

export class Microphone {
  #queue = [];
  #timer;

  // deliver takes an ArrayBuffer of PCM every 40 ms, with what is due by the clock.
  constructor(deliver) {
    const began = performance.now();
    let sent = 0;
    this.#timer = setInterval(() => {
      for (; sent * chunkMs < performance.now() - began; sent++) deliver(this.#next().buffer);
    }, chunkMs);
  }

  #next() {
    const chunk = new Int16Array((rate * chunkMs) / 1000);
    for (let n = 0; n < chunk.length && this.#queue.length > 0; ) {
      const piece = this.#queue[0].subarray(0, chunk.length - n);
      chunk.set(piece, n);
      n += piece.length;
      if (piece.length === this.#queue[0].length) this.#queue.shift();
      else this.#queue[0] = this.#queue[0].subarray(piece.length);
    }
    return chunk;
  }

  say(samples) {
    this.#queue.push(samples);
  }

  close() {
    clearInterval(this.#timer);
  }
}
