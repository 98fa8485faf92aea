// The language model's prompt: instructions, editor content and the conversation so far, within the model's
// token budget.

import type { CopilotMessage } from '../protocol.gen';
import type { ContextKey } from '../view';

/** Part of a message. */
export type Part =
  | { readonly is: 'text'; readonly text: string }
  | { readonly is: 'call'; readonly callId: string; readonly name: string; readonly input: object }
  | { readonly is: 'result'; readonly callId: string; readonly text: string };

/** A message to the model. The API has no system role, so instructions use the user role. */
export interface Message {
  readonly role: 'user' | 'assistant';
  readonly parts: readonly Part[];
}

/** Kind is the source of material: the editor or an attachment. */
export type Kind = ContextKey | 'attached';

/** Material accompanies a question. */
export interface Material {
  readonly key: Kind;
  readonly title: string;
  readonly text: string;
  /** the character around which to keep what fits */
  readonly focus?: number;
}

/** Counts the tokens of a text. */
export type Count = (text: string) => number;

/** Estimates the tokens of a text, erring on the high side. It does not ask the model, which would cost a call for each piece. */
export function estimate(text: string): number {
  let wide = 0; // characters of one or more tokens each
  for (let i = 0; i < text.length; i++) {
    if (text.charCodeAt(i) > 0x7f) {
      wide++;
    }
  }
  return Math.ceil((text.length - wide) / 3 + wide);
}

/** The model's answer is heard, not read. */
export const INSTRUCTIONS = [
  'You are a coding assistant in Visual Studio Code. The user speaks to you, and your answer is read aloud as you write it.',
  'Answer first, in one to three short sentences of plain prose; say more only when asked to.',
  'Put code, commands and file contents in fenced code blocks with their language: those are shown, not read. Never rely on formatting to be understood.',
  'With tools, look and act instead of guessing. The user is asked aloud before anything is changed or run: do not ask for permission yourself. Say in one sentence what came of it.',
  'What the user said was recognised from speech: names of files and symbols may be misspelled. Where it matters, ask.',
].join('\n');

/** Reserved tokens for what the editor adds. */
const RESERVE = 256;
/** Maximum tokens for a question, whatever the model's limit. */
export const CONTEXT = 8_000;
/** Maximum share of that for one kind of material. */
const SHARES: Readonly<Record<Kind, number>> = { workspaceName: 0.05, attached: 0.6, selection: 0.4, diagnostics: 0.15, activeFile: 1 };
/** The file is last, and gets what is left. */
const ORDER: readonly Kind[] = ['workspaceName', 'attached', 'selection', 'diagnostics'];

/** Composed is a prompt, and what was cut. */
export interface Composed {
  readonly messages: readonly Message[];
  readonly trimmed: readonly Kind[];
  readonly droppedMessages: number;
  /** the total, as counted */
  readonly tokens: number;
}

/** Composes a prompt of at most limit tokens. It never cuts the question. */
export function compose(
  said: readonly CopilotMessage[],
  material: readonly Material[],
  wishes: string,
  limit: number,
  count: Count = estimate,
): Composed {
  const instructions = wishes.trim() === '' ? INSTRUCTIONS : `${INSTRUCTIONS}\nThe user's own wishes: ${wishes.trim()}`;
  const asked = said.findLastIndex((m) => m.role === 'user');
  const question = said.slice(Math.max(0, asked));
  const before = said.slice(0, Math.max(0, asked));
  const available = limit - RESERVE;
  let left = available - count(instructions) - question.reduce((sum, m) => sum + count(plain(m)), 0);
  const most = Math.min(CONTEXT, limit);
  let context = most;
  const trimmed: Kind[] = [];
  const pieces: string[] = [];
  const add = (m: Material, room: number): void => {
    const kept = fit(m, Math.min(room, left, context), count);
    if (kept.cut) {
      trimmed.push(m.key);
    }
    if (kept.text !== '') {
      pieces.push(kept.text);
      left -= kept.tokens;
      context -= kept.tokens;
    }
  };
  for (const key of ORDER) {
    for (const m of material.filter((x) => x.key === key)) {
      add(m, Math.floor(most * SHARES[key]));
    }
  }
  const kept: CopilotMessage[] = [];
  // Half of the remaining budget is reserved for the file, if there is one.
  let room = material.some((m) => m.key === 'activeFile') ? left - Math.min(left / 2, context) : left;
  for (const m of [...before].reverse()) {
    const tokens = count(plain(m));
    if (tokens > room) {
      break;
    }
    room -= tokens;
    left -= tokens;
    kept.unshift(m);
  }
  // A tool result without its question means nothing to the model.
  while (kept[0]?.role === 'tool') {
    kept.shift();
  }
  for (const m of material.filter((x) => x.key === 'activeFile')) {
    add(m, left);
  }
  const opening = pieces.length === 0 ? instructions : `${instructions}\n\nWhat the user sees in the editor:\n\n${pieces.join('\n\n')}`;
  return {
    messages: [{ role: 'user', parts: [{ is: 'text', text: opening }] }, ...messages([...kept, ...question])],
    trimmed,
    droppedMessages: before.length - kept.length,
    tokens: available - left,
  };
}

function plain(m: CopilotMessage): string {
  return m.role === 'tool' ? `${m.name ?? ''} ${JSON.stringify(m.input ?? {})} ${m.content}` : noted(m);
}

/** Converts messages for the model. The result of a call follows the call. */
export function messages(said: readonly CopilotMessage[]): Message[] {
  const out: Message[] = [];
  for (const m of said) {
    if (m.role !== 'tool') {
      out.push({ role: m.role, parts: [{ is: 'text', text: noted(m) }] });
    } else if (m.callId === undefined || m.name === undefined) {
      out.push({ role: 'user', parts: [{ is: 'text', text: m.content }] });
    } else {
      const input = typeof m.input === 'object' && m.input !== null ? m.input : {};
      out.push({ role: 'assistant', parts: [{ is: 'call', callId: m.callId, name: m.name, input }] });
      out.push({ role: 'user', parts: [{ is: 'result', callId: m.callId, text: outcome(m) }] });
    }
  }
  return out;
}

/** A message with what the model should know about it. The user's words are shown without. */
function noted(m: CopilotMessage): string {
  return m.dictated === true ? `${m.content}\n\n[The words above were dictated. Speech recognition wrote them, so some may be misheard.]`
    : m.cut === true ? `${m.content}\n\n[This answer was cut off before its end.]`
    : m.content;
}

/** The outcome of a call, also if it did not run. */
function outcome(m: CopilotMessage): string {
  switch (m.status) {
    case 'rejected':
      return 'The user did not allow this call. Do not ask for it again; go on without it.';
    case 'cancelled':
      return m.content === '' ? 'The call was cancelled.' : m.content;
    default:
      return m.content === '' ? 'Done, without output.' : m.content;
  }
}

interface Kept {
  readonly text: string;
  readonly tokens: number;
  readonly cut: boolean;
}

/** The part of a piece that fits, in whole lines around its focus. */
function fit(m: Material, room: number, count: Count): Kept {
  const whole = `${m.title}:\n${fenced(m.text)}`;
  const all = count(whole);
  if (all <= room) {
    return { text: whole, tokens: all, cut: false };
  }
  const nothing = { text: '', tokens: 0, cut: true };
  let size = Math.floor(m.text.length * (room / all) * 0.9);
  while (size >= 80) {
    const text = `${m.title}, in part:\n${fenced(around(m.text, m.focus ?? 0, size))}`;
    const tokens = count(text);
    if (tokens <= room) {
      return { text, tokens, cut: true };
    }
    size = Math.floor(size * Math.min(0.8, (room / tokens) * 0.95));
  }
  return nothing;
}

/** At most size characters of whole lines around a position; cuts a longer line. */
export function around(text: string, focus: number, size: number): string {
  const from = Math.max(0, Math.min(focus - Math.floor(size / 2), text.length - size));
  const piece = text.slice(from, from + size);
  const first = from === 0 ? 0 : piece.indexOf('\n') + 1;
  const last = from + size >= text.length ? piece.length : piece.lastIndexOf('\n');
  return last > first ? piece.slice(first, last) : piece;
}

/** A fence longer than any in the text. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((m) => m[0].length));
  const mark = '`'.repeat(longest + 1);
  return `${mark}\n${text}\n${mark}`;
}
