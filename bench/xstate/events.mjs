// The conversation that all implementations are compared over, as the core's
// tests write it: one JSON object a line.

import { readFileSync } from 'node:fs'

/** Reads the file that the environment names. */
export function conversation() {
  const file = process.env.CONVERSATION
  if (!file) throw new Error('CONVERSATION is not set; make bench sets it to the file that it had the core write')
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line))
  return lines.map(({ event, seq, at, data, phase, effects }) => ({ event: { type: event, seq, at, ...data }, phase, effects }))
}
