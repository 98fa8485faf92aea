// A tool call in words, for its row in the transcript: "Ran `npm test` in api, 3 failed".

import type { ToolStatus } from './protocol.gen';
import type { Translate } from './text';
import type { Call } from './transcript';

/** RowPart is a piece of the row; code is what would be typed, such as a command or a path. */
export interface RowPart {
  readonly text: string;
  readonly code?: true;
}

/** Maximum length of a name or command in a row, in characters. The input is shown on request. */
const LENGTH = 80;

/** The call, and how it went. */
export function rowOf(call: Call, t: Translate): RowPart[] {
  const { done, what } = deedOf(call, t);
  const before: Record<Exclude<ToolStatus, 'completed'>, string> = {
    requested: t('Requested'),
    waitingForApproval: t('Needs approval'),
    running: t('Running'),
    failed: t('Failed'),
    rejected: t('Not allowed'),
    cancelled: t('Cancelled'),
  };
  return call.status === 'completed'
    ? [...done, ...(call.outcome === undefined || call.outcome === '' ? [] : [{ text: `, ${call.outcome}` }])]
    : [{ text: `${before[call.status]}: ` }, ...what];
}

/** What a call did when it is over, and what it is about. */
interface Deed {
  readonly done: RowPart[];
  readonly what: RowPart[];
}

function deedOf(call: Call, t: Translate): Deed {
  const ofAgent = call.title !== undefined || call.folder !== undefined; // its tools may have the names of ours
  const input = new Map(Object.entries(typeof call.input === 'object' && call.input !== null ? call.input : {}));
  const text = (name: string): string => {
    const value = input.get(name);
    return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
  };
  const about = (done: string, ...args: RowPart[]): Deed => ({ done: filled(done, args), what: args });
  const only = (done: string): Deed => ({ done: [{ text: done }], what: [{ text: readable(call.name) }] });
  switch (ofAgent ? '' : call.name) {
    case 'editor_run_tests':
    case 'editor_run_task':
    case 'editor_run_command':
      return text('task') !== '' ? about(t('Ran the task {0}', MARK(0)), code(text('task'))) : ran(text('command'), text('workspaceFolder') || base(text('folder')), t);
    case 'editor_apply_edit':
      return about(input.get('create') === true ? t('Created {0}', MARK(0)) : t('Changed {0}', MARK(0)), code(text('path')));
    case 'editor_rename_symbol': {
      const [from, to] = [code(text('symbol')), code(text('newName'))];
      return { done: filled(t('Renamed {0} to {1}', MARK(0), MARK(1)), [from, to]), what: [from, { text: ' → ' }, to] };
    }
    case 'editor_open':
      return about(t('Opened {0}', MARK(0)), code(text('symbol') || text('path')));
    case 'editor_go_to_line':
      return about(t('Went to line {0}', MARK(0)), { text: text('line') });
    case 'editor_next_problem':
      return only(t('Went to the next problem'));
    case 'editor_read_problems':
      return only(t('Read the problems'));
    case 'editor_search':
      return about(t('Searched for {0}', MARK(0)), code(text('text')));
    case 'editor_read_file':
      return about(t('Read {0}', MARK(0)), code(text('path')));
    case 'editor_list_files':
      return only(t('Listed the files'));
    case 'editor_git_status':
      return only(t('Read the Git status'));
    case 'editor_git_diff':
      return only(t('Read the changes in Git'));
    default: {
      const title = [{ text: clipped(call.title ?? '') }];
      return call.title !== undefined && call.title.trim() !== '' ? { done: title, what: title }
        : call.commands?.[0] !== undefined ? ran(call.commands[0], base(call.folder ?? ''), t)
        : about(t('Used the tool {0}', MARK(0)), { text: readable(call.name) });
    }
  }
}

function ran(command: string, folder: string, t: Translate): Deed {
  const what = code(command);
  return folder === ''
    ? { done: filled(t('Ran {0}', MARK(0)), [what]), what: [what] }
    : { done: filled(t('Ran {0} in {1}', MARK(0), MARK(1)), [what, { text: folder }]), what: filled(t('{0} in {1}', MARK(0), MARK(1)), [what, { text: folder }]) };
}

/** Stands for an argument in a translated sentence, until the sentence is split at it. */
const MARK = (n: number): string => `\u0001${n}\u0001`;

/** A translated sentence with its arguments in their places. */
function filled(sentence: string, args: readonly RowPart[]): RowPart[] {
  return sentence.split('\u0001').map((text, i) => (i % 2 === 0 ? { text } : (args[Number(text)] ?? { text: '' }))).filter(({ text }) => text !== '');
}

function code(text: string): RowPart {
  return { text: clipped(text), code: true };
}

/** A text in one line, without the end of a long one. */
function clipped(text: string): string {
  const line = [...text.trim().replace(/\s+/g, ' ')];
  return line.length > LENGTH ? `${line.slice(0, LENGTH).join('')}…` : line.join('');
}

function base(path: string): string {
  return path.split(/[\\/]/).filter((name) => name !== '').at(-1) ?? '';
}

/** The name of a tool as words: fake_runTests is "fake run tests". */
function readable(name: string): string {
  return name.replace(/^editor_/, '').replace(/([a-z\d])([A-Z])/g, '$1 $2').replace(/[^\p{L}\p{N}]+/gu, ' ').trim().toLowerCase();
}
