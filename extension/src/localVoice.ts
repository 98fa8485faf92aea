// Installs local speech models: the daemon lists and downloads them; the user selects them, accepts their
// licences and can cancel.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import * as vscode from 'vscode';
import type { Conversation } from './conversation';
import { Unusable, run } from './daemon/find';
import { isActive } from './model';

const t = vscode.l10n.t;

/** The installable models, as printed by `models list --json`. */
export interface Listed {
  readonly name: string;
  readonly title?: string;
  readonly use?: string;
  readonly bytes?: number;
  readonly languages?: readonly string[];
  readonly licence?: { readonly name: string; readonly url: string };
  readonly figures?: readonly { readonly what: string; readonly value: string; readonly source: string; readonly measured?: boolean }[];
  readonly installed: boolean;
  readonly recommended: boolean;
  readonly byEngine?: boolean;
  readonly mustAccept?: boolean;
}

interface Catalogue {
  readonly engine: Listed;
  readonly models: readonly Listed[];
}

/** A line of output from `models install --json`. */
interface Line {
  readonly event: 'licence' | 'progress' | 'note' | 'installed' | 'failed';
  readonly name: string;
  readonly done?: number;
  readonly total?: number;
  readonly message?: string;
}

/** The outcome of an installation. */
export type Outcome = { readonly is: 'installed' | 'cancelled' } | { readonly is: 'failed'; readonly message: string };

/** What an installation needs of the window. */
export interface Site {
  program(): Promise<string>;
  readonly conversation: Pick<Conversation, 'model' | 'wire' | 'restart'>;
  readonly log: Pick<vscode.LogOutputChannel, 'info' | 'error' | 'show'>;
}

export async function installLocalVoice(w: Site): Promise<void> {
  try {
    const program = await w.program();
    const wanted = await choose(await list(program));
    if (wanted !== undefined && (await accepted(wanted))) {
      await tell(w, await download(program, wanted, w));
    }
  } catch (err) {
    const { message, remediation } = err instanceof Unusable ? err : { message: t('The models cannot be listed.'), remediation: t('Try again. See the log for details.') };
    w.log.error(`local voice: ${String(err)}`);
    void vscode.window.showErrorMessage(`${message} ${remediation}`);
  }
}

async function list(program: string): Promise<Catalogue> {
  const spoken = vscode.workspace.getConfiguration('agentvoice').get('transcription.language', '');
  const language = spoken === '' ? vscode.env.language : spoken;
  return JSON.parse(await run(program, ['models', 'list', '--json', '--language', language])) as Catalogue;
}

/** The models that the user selected, preceded by the engine if they need it and it is missing. */
async function choose(all: Catalogue): Promise<readonly Listed[] | undefined> {
  const items = all.models.map((model) => ({
    label: model.installed ? `$(check) ${model.name}` : model.name,
    description: [use(model), size(model.bytes), model.licence?.name ?? ''].filter((s) => s !== '').join(', '),
    detail: [model.title ?? '', (model.languages ?? []).join(' '), ...(model.figures ?? []).map((p) => `${p.what}: ${p.value} (${p.source})`)].filter((s) => s !== '').join(' · '),
    picked: model.recommended && !model.installed,
    model,
  }));
  const picked = await vscode.window.showQuickPick(items, {
    title: t('Install Local Voice'),
    placeHolder: t('The recommended models are selected.'),
    canPickMany: true,
  });
  const wanted = picked?.map((p) => p.model).filter((m) => !m.installed) ?? [];
  const engine = all.engine.installed || !wanted.some((m) => m.byEngine === true) ? [] : [all.engine];
  return wanted.length === 0 ? undefined : [...engine, ...wanted];
}

function use(model: Listed): string {
  return model.use === 'speech' ? t('speaks') : model.use === 'partials' ? t('hears while you speak') : model.use === 'finals' ? t('hears') : '';
}

function size(bytes: number | undefined): string {
  return bytes === undefined || bytes === 0 ? '' : `${Math.max(1, Math.round(bytes / 1e6))} MB`;
}

/** Nothing is downloaded until the user has seen and accepted the licences that are not permissive. */
async function accepted(wanted: readonly Listed[]): Promise<boolean> {
  if (!wanted.some((m) => m.mustAccept === true)) {
    return true;
  }
  const accept = t('Accept and Install');
  const read = t('Open Licences');
  const detail = wanted.map((m) => `${m.name} (${size(m.bytes)}): ${m.licence?.name ?? ''}\n${m.licence?.url ?? ''}`).join('\n\n');
  for (;;) {
    const answer = await vscode.window.showInformationMessage(t('Do you accept these licences?'), { modal: true, detail }, accept, read);
    if (answer !== read) {
      return answer === accept;
    }
    for (const { licence } of wanted) {
      if (licence !== undefined) {
        await vscode.env.openExternal(vscode.Uri.parse(licence.url));
      }
    }
  }
}

/** Downloads with the daemon and shows the progress. */
function download(program: string, wanted: readonly Listed[], { log }: Site): Thenable<Outcome> {
  const names = wanted.map((m) => m.name);
  const options = { location: vscode.ProgressLocation.Notification, title: t('Installing local voice'), cancellable: true };
  return vscode.window.withProgress(options, (progress, token) => new Promise<Outcome>((resolve) => {
    const meter = new Meter(wanted);
    let failure = '';
    const child = spawn(program, ['models', 'install', '--json', '--accept-licence', ...names], { windowsHide: true, stdio: ['ignore', 'pipe', 'pipe'] });
    const cancelling = token.onCancellationRequested(() => child.kill());
    createInterface({ input: child.stdout }).on('line', (text) => {
      const line = JSON.parse(text) as Line;
      if (line.event === 'note') {
        log.info(`local voice: ${line.name}: ${line.message ?? ''}`);
      } else if (line.event === 'failed') {
        failure = line.message ?? '';
      } else if (line.event === 'progress') {
        progress.report({ increment: meter.advance(line), message: t('{0}: {1} of {2}', line.name, size(line.done) || '0 MB', size(line.total)) });
      }
    });
    createInterface({ input: child.stderr }).on('line', (text) => (failure ||= text));
    const ended = (outcome: Outcome): void => {
      cancelling.dispose();
      resolve(outcome);
    };
    child.once('error', (err) => ended({ is: 'failed', message: err.message }));
    child.once('close', (code) => ended(code === 0 ? { is: 'installed' } : token.isCancellationRequested ? { is: 'cancelled' } : { is: 'failed', message: failure }));
  }));
}

/** Meter converts the progress of each model into increments of one progress bar, in percent. */
export class Meter {
  private readonly total: number;
  private readonly done = new Map<string, number>();
  private shown = 0;

  constructor(wanted: readonly Listed[]) {
    this.total = wanted.reduce((sum, m) => sum + (m.bytes ?? 0), 0);
  }

  advance(line: { readonly name: string; readonly done?: number }): number {
    this.done.set(line.name, line.done ?? 0);
    const sum = [...this.done.values()].reduce((a, b) => a + b, 0);
    const percent = this.total === 0 ? 0 : Math.min(100, (100 * sum) / this.total);
    const step = Math.max(0, percent - this.shown);
    this.shown += step;
    return step;
  }
}

/** A running daemon uses the new models after a restart. Do not end a conversation for that. */
async function tell(w: Site, outcome: Outcome): Promise<void> {
  if (outcome.is === 'cancelled') {
    void vscode.window.showInformationMessage(t('The installation was stopped. The next one continues where it was.'));
    return;
  }
  if (outcome.is === 'failed') {
    const again = t('Try again');
    const log = t('Show log');
    w.log.error(`local voice: ${outcome.message}`);
    const answer = await vscode.window.showErrorMessage(t('The local voice was not installed: {0}', outcome.message), again, log);
    if (answer === again) {
      await installLocalVoice(w);
    } else if (answer === log) {
      w.log.show();
    }
    return;
  }
  if (!isActive(w.conversation.model.snapshot)) {
    if (w.conversation.wire !== undefined) {
      await w.conversation.restart();
    }
    void vscode.window.showInformationMessage(t('The local voice is installed.'));
    return;
  }
  const restart = t('Restart');
  if ((await vscode.window.showInformationMessage(t('The local voice is installed. It is used after a restart of Agent Voice, which ends this conversation.'), restart)) === restart) {
    await w.conversation.restart();
  }
}
