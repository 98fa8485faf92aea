// Tool approval: a sentence, exactly what would run, and the words to say.

import type { Strings } from '../src/panelwire';
import type { Member, ShownCall } from '../src/shownCall';
import { type Child, type Spec, arm, button, el, h, patch, show } from './dom';
import { icon } from './icons';

export class Approval {
  readonly element: HTMLElement;
  /** the call that awaits approval */
  private asked = '';

  constructor(private readonly strings: Strings, private readonly answer: (call: ShownCall, approved: boolean) => void) {
    this.element = el('section', { class: 'approval', 'data-testid': 'approval', 'aria-label': strings.approvalTitle, hidden: true });
  }

  /** Shows the call that awaits approval; returns whether it changed. */
  render(call: ShownCall | undefined): boolean {
    show(this.element, call !== undefined);
    if (call === undefined) {
      this.asked = '';
      patch(this.element, []);
      return false;
    }
    const { strings } = this;
    const id = `${call.callId} ${call.hash}`;
    // A different call gets new buttons, so that a press on the old ones cannot approve it.
    const choice = (approved: boolean, text: string, say: string, name: string, kind: string): Spec =>
      button({ key: `${name} ${id}`, class: kind, 'data-testid': name }, () => this.answer(call, approved),
        h('span', { class: 'text' }, text), h('small', {}, ...(say === '' ? [strings.onlyClick] : quoted(strings.say, say))));
    patch(this.element, [
      h('p', { class: 'question', role: 'status', 'data-testid': 'approval-question' }, ...sentence(call.question === '' ? strings.approvalTitle : call.question)),
      h('p', { class: 'call' }, icon('tool'), h('code', { 'data-testid': 'approval-name' }, call.name)),
      ...call.commands.map((text, i) =>
        h('pre', { key: `command ${i}`, class: 'command', tabindex: '0', role: 'group', 'aria-label': strings.command, 'data-testid': 'approval-command' }, h('code', {}, text))),
      ...this.input(call),
      ...(call.click || (call.destructive && call.question === '') ? [h('p', { key: 'destructive', class: 'careful', 'data-testid': 'approval-destructive' }, icon('warning'), call.click ? strings.click : strings.destructive)] : []),
      h('div', { key: 'actions', class: 'actions' },
        choice(true, strings.allow, call.say, 'approve', 'primary'),
        choice(false, strings.reject, strings.no, 'reject', 'secondary')),
    ]);
    const another = this.asked !== id;
    if (another) {
      this.asked = id;
      this.element.querySelectorAll('.actions button').forEach(arm);
    }
    return another;
  }

  /** All fields of the input in its order, an edit's old and new text as a diff; and the input as it is, on request. */
  private input(call: ShownCall): Spec[] {
    const rest = call.members.filter((m) => !m.command);
    if (call.members.length === 0) {
      return call.input === '' || call.commands.includes(call.input) ? []
        : [h('pre', { key: 'input', class: 'input', tabindex: '0', role: 'group', 'aria-label': this.strings.input, 'data-testid': 'approval-input' }, h('code', {}, call.input))];
    }
    if (rest.length === 0) {
      return [];
    }
    return [
      h('dl', { key: 'input', class: 'input', 'data-testid': 'approval-input', 'aria-label': this.strings.input }, ...rest.map(member)),
      ...(call.input === '' ? [] : [h('details', { key: 'whole', 'data-testid': 'approval-whole' }, h('summary', {}, this.strings.wholeInput),
        h('pre', { class: 'input', tabindex: '0' }, h('code', {}, call.input)))]),
    ];
  }
}

/** A field: its value, or the lines that it removes and adds. */
function member({ name, value, diff }: Member): Spec {
  if (diff === undefined) {
    return h('div', { class: value.includes('\n') ? 'member long' : 'member' }, h('dt', {}, name), h('dd', {}, h('code', {}, value)));
  }
  const marks = { removed: '-', added: '+', kept: ' ' } as const;
  return h('div', { class: 'member long' }, h('dt', {}, name), h('dd', { class: 'diff', 'data-testid': 'approval-diff' },
    ...diff.map((line) => h('code', { class: line.is }, `${marks[line.is]} ${line.text}`))));
}

/** A sentence whose first part is emphasised; the words to say are in bold. */
function sentence(text: string): Child[] {
  const end = /^.*?[?？。](?=\s|$|\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|「)/su.exec(text)?.[0].length ?? text.length;
  return [h('strong', {}, text.slice(0, end)), ...emphasised(text.slice(end))];
}

function emphasised(text: string): Child[] {
  return text.split(/([“„「][^”“」]+[”“」])/).filter((s) => s !== '').map((s, i) => (i % 2 === 1 || /^[“„「]/.test(s) ? h('strong', {}, s) : h('span', {}, s)));
}

/** A phrase with the words to say in bold. */
function quoted(template: string, words: string): Child[] {
  const [before = '', after = ''] = template.split('{0}');
  return [before, h('b', {}, words), after];
}
