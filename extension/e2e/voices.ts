// The user's utterances: recorded human speech, and phrases in a natural voice without such a recording.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { speech } from './paths.ts';

/** Sample rate. */
const RATE = 16_000;
/** Level of all voices, as the RMS of 16-bit samples: -23 dBFS, like one microphone setting. */
const LOUDNESS = 2300;
const PEAK = 30_000;

/** The utterances by name. */
export const WORDS = {
  /** a question spoken by a person */
  question: 'go forward ten meters',
  yes: 'yes',
  no: 'no',
  agree: 'yes please',
  rename: 'rename this and run the tests',
} as const;

export type Said = keyof typeof WORDS;

/** Writes each utterance as a WAV file into dir; returns the paths. */
export function record(dir: string): Record<Said, string> {
  const files = {} as Record<Said, string>;
  for (const name of Object.keys(WORDS) as Said[]) {
    files[name] = join(dir, `${name}.wav`);
    const pcm = name === 'question' ? raw(readFileSync(join(speech, 'goforward.raw'))) : recorded(name);
    writeFileSync(files[name], wav(level(pcm)));
  }
  return files;
}

/** A recording of this folder: one channel at RATE. */
function recorded(name: Said): Int16Array {
  const bytes = readFileSync(join(import.meta.dirname, 'recordings', `${name}.wav`));
  if (bytes.readUInt32LE(24) !== RATE) {
    throw new Error(`${name}.wav has ${bytes.readUInt32LE(24)} samples a second`);
  }
  return raw(bytes.subarray(44));
}

function raw(bytes: Buffer): Int16Array {
  return Int16Array.from({ length: bytes.length >> 1 }, (_, i) => bytes.readInt16LE(2 * i));
}

function level(pcm: Int16Array): Int16Array {
  const rms = Math.sqrt(pcm.reduce((sum, s) => sum + s * s, 0) / pcm.length);
  const peak = pcm.reduce((max, s) => Math.max(max, Math.abs(s)), 1);
  const gain = Math.min(LOUDNESS / rms, PEAK / peak);
  return pcm.map((s) => Math.round(s * gain));
}

function wav(pcm: Int16Array): Buffer {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + 2 * pcm.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16); // bytes of the format
  head.writeUInt16LE(1, 20); // PCM
  head.writeUInt16LE(1, 22); // channels
  head.writeUInt32LE(RATE, 24);
  head.writeUInt32LE(2 * RATE, 28); // byte rate
  head.writeUInt16LE(2, 32); // bytes per frame
  head.writeUInt16LE(16, 34); // bits per sample
  head.write('data', 36);
  head.writeUInt32LE(2 * pcm.length, 40);
  return Buffer.concat([head, Buffer.from(pcm.buffer, pcm.byteOffset, pcm.byteLength)]);
}
