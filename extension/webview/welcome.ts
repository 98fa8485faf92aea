// The panel before the first words: how to start, what to say, and the results of the setup check.

import type { Strings } from '../src/panelwire';
import type { PanelCommand } from '../src/remedies';
import type { Check, View } from '../src/view';
import { type Spec, button, el, h, patch, show } from './dom';
import { icon } from './icons';

const PICTURES: Readonly<Record<Check['state'], string>> = { works: 'check', unknown: 'circle', missing: 'missing' };

export class Welcome {
  readonly element: HTMLElement;

  constructor(private readonly strings: Strings, private readonly run: (command: PanelCommand) => void) {
    this.element = el('section', { class: 'welcome', 'data-testid': 'empty', hidden: true });
  }

  render(view: View, shown: boolean): void {
    show(this.element, shown);
    const { strings } = this;
    const idle = view.primary !== undefined;
    patch(this.element, !shown ? [] : [
      ...(idle ? [
        button({ key: 'mic', class: 'big', 'data-testid': 'welcome-start', 'aria-label': view.primary?.title, title: view.primary?.title }, () => this.run('agentvoice.start'), icon('mic')),
        h('h2', { key: 'title' }, strings.welcome.replace('{0}', view.assistant)),
        h('p', { key: 'how', class: 'muted' }, ...this.how(view.startKey)),
      ] : []),
      ...(view.limits === '' ? [] : [h('p', { key: 'limits', class: 'muted', 'data-testid': 'limits' }, view.limits)]),
      h('div', { key: 'try', class: 'try' }, h('h3', {}, strings.trySaying),
        h('ul', {}, ...[strings.try1, strings.try2, strings.try3].map((text) => h('li', {}, text)))),
      ...(idle ? [
        h('ul', { key: 'checks', class: 'checks', 'aria-label': strings.needs }, ...view.checks.map((c) => this.check(c))),
        h('div', { key: 'more', class: 'offers' },
          button({ key: 'check', class: 'link', 'data-testid': 'check-setup' }, () => this.run('agentvoice.checkSetup'), strings.checkSetup),
          ...(view.checks.some((c) => c.key === 'voice' && c.detail === strings.local)
            ? [button({ key: 'voice', class: 'link', 'data-testid': 'install-voice' }, () => this.run('agentvoice.installLocalVoice'), strings.installVoice)] : [])),
        h('p', { key: 'private', class: 'private' }, strings.nothingRecorded),
      ] : [h('p', { key: 'interrupt', class: 'muted' }, strings.emptyMore)]),
    ]);
  }

  private how(key: string): (Spec | string)[] {
    const [before = '', after = ''] = this.strings.pressAndSpeak.split('{0}');
    return [before, h('kbd', {}, key), after];
  }

  private check({ key, title, detail, state, command }: Check): Spec {
    const { strings } = this;
    const said = { works: strings.works, unknown: strings.notChecked, missing: strings.notFound }[state];
    return h('li', { key, 'data-state': state, 'data-testid': `check-${key}` }, icon(PICTURES[state]), h('span', { class: 'name' }, title),
      button({ class: 'link', 'aria-label': `${title}: ${detail}, ${said}`, title: `${detail}, ${said}` }, () => this.run(command), h('span', { class: 'text' }, detail)));
  }
}
