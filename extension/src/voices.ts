// Chooses a speaker of this machine's voice. The daemon lists the speakers, and lets one speak a sample.

import { type ChildProcess, spawn } from 'node:child_process';
import * as vscode from 'vscode';
import type { Conversation } from './conversation';
import { Unusable, run } from './daemon/find';
import { keepVoice } from './editorCommands';
import { mayHear } from './model';
import { speaks } from './providers';

const t = vscode.l10n.t;

/** How long a speaker is active in the list before it speaks, in milliseconds. */
const REST = 400;

/** A speaker, as printed by `models voices --json`. */
interface Speaker {
  readonly name: string;
  readonly about?: string;
  readonly default: boolean;
}

interface Item extends vscode.QuickPickItem {
  readonly name: string;
}

/** What choosing a voice needs of the window. */
export interface Audience {
  program(): Promise<string>;
  readonly conversation: Pick<Conversation, 'model' | 'onChange'>;
  readonly log: Pick<vscode.LogOutputChannel, 'warn' | 'error'>;
}

export async function selectVoice(w: Audience): Promise<void> {
  const set = vscode.workspace.getConfiguration('agentvoice');
  if (speaks((name) => set.get(name, '')) !== 'local') {
    const open = t('Open settings');
    if ((await vscode.window.showInformationMessage(t('A service speaks. Enter the name of its voice in the settings.'), open)) === open) {
      await vscode.commands.executeCommand('workbench.action.openSettings', 'agentvoice.voice.name');
    }
    return;
  }
  try {
    const program = await w.program();
    const args = ['models', 'voices', '--voice-engine', set.get('voice.engine', 'auto'), '--models', set.get('models', '')];
    const speakers = JSON.parse(await run(program, [...args, '--json'])) as readonly Speaker[];
    // An open microphone would take the sample for the user's voice.
    const sample = mayHear(w.conversation.model) ? undefined : new Sample(program, [...args, '--audio-out', set.get('audio.outputDevice', 'default')], w);
    const ends = w.conversation.onChange((m) => mayHear(m) && sample?.stop());
    const name = await choose(speakers, set.get('voice.name', ''), sample).finally(ends);
    const { problem } = name === undefined ? {} : await keepVoice(name);
    if (problem !== undefined) {
      void vscode.window.showErrorMessage(t('The voice was not changed: the settings could not be written.'));
    }
  } catch (err) {
    const { message, remediation } = err instanceof Unusable ? err : { message: t('The voices cannot be listed.'), remediation: t('Try again. See the log for details.') };
    w.log.error(`voices: ${String(err)}`);
    void vscode.window.showErrorMessage(`${message} ${remediation}`);
  }
}

/** The speaker that the user accepted. Each one speaks when the user moves to it or presses its button. */
function choose(speakers: readonly Speaker[], now: string, sample: Sample | undefined): Promise<string | undefined> {
  const listen = { iconPath: new vscode.ThemeIcon('unmute'), tooltip: t('Listen') };
  const selected = speakers.find((s) => s.name === now) ?? speakers.find((s) => s.default);
  const items = speakers.map((s): Item => ({
    name: s.name,
    label: s === selected ? `$(check) ${s.name}` : s.name,
    description: s.about ?? '',
    buttons: sample === undefined ? [] : [listen],
  }));
  const list = vscode.window.createQuickPick<Item>();
  list.title = t('Choose Voice');
  list.placeholder = sample === undefined ? t('It speaks from the next conversation on. To hear others now, say “another voice”.') : t('You hear each one. It speaks from the next conversation on.');
  list.items = items;
  list.activeItems = items.filter((i) => i.name === selected?.name);
  let before = selected?.name; // the list opens with it, which is no move of the user
  const speak = (name: string, after: number): void => sample?.speak(name, after, (busy) => (list.busy = busy));
  return new Promise((resolve) => {
    list.onDidChangeActive(([item]) => {
      if (item !== undefined && item.name !== before) {
        before = item.name;
        speak(item.name, REST);
      }
    });
    list.onDidTriggerItemButton(({ item }) => speak(item.name, 0));
    list.onDidAccept(() => {
      resolve(list.activeItems[0]?.name);
      list.hide();
    });
    list.onDidHide(() => {
      sample?.stop();
      list.dispose();
      resolve(undefined);
    });
    list.show();
  });
}

/** Sample plays one sample at a time. */
class Sample {
  private waiting: NodeJS.Timeout | undefined;
  private child: ChildProcess | undefined;
  private idle = (): void => undefined;

  constructor(private readonly program: string, private readonly args: readonly string[], private readonly w: Audience) {}

  speak(name: string, after: number, busy: (is: boolean) => void): void {
    this.stop();
    if (mayHear(this.w.conversation.model)) {
      return;
    }
    this.idle = () => busy(false);
    busy(true);
    this.waiting = setTimeout(() => {
      let failure = '';
      const child = spawn(this.program, [...this.args, name], { windowsHide: true, stdio: ['ignore', 'ignore', 'pipe'] });
      this.child = child;
      child.stderr.on('data', (text: Buffer) => (failure += text.toString()));
      const ended = (message: string): void => {
        if (this.child !== child) {
          return; // stopped
        }
        this.child = undefined;
        busy(false);
        if (message !== '') {
          this.w.log.warn(`voices: ${name}: ${message}`);
          void vscode.window.showWarningMessage(t('{0} cannot be heard: {1}', name, message));
        }
      };
      child.once('error', (err) => ended(err.message));
      child.once('close', (code) => ended(code === 0 ? '' : failure.trim() || `exit ${code ?? ''}`));
    }, after);
  }

  stop(): void {
    clearTimeout(this.waiting);
    const { child } = this;
    this.child = undefined;
    child?.kill();
    this.idle();
  }
}
