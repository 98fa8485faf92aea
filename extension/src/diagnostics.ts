// A report for a bug: facts about the daemon and the extension, without words, paths or secrets. It opens for
// review; the user decides whether to save it.

import { readFile, rm } from 'node:fs/promises';
import * as vscode from 'vscode';
import type { Conversation } from './conversation';

const t = vscode.l10n.t;

export async function diagnosticsOf(conversation: Pick<Conversation, 'ask' | 'wire'>, version: string): Promise<void> {
  const report = await conversation.ask((wire) => wire.request('diagnostics/report'));
  if (report === undefined) {
    return;
  }
  const history = await conversation.ask((wire) => wire.request('conversation/history'));
  const usage = await conversation.ask((wire) => wire.request('usage/summary'));
  const past = await conversation.ask((wire) => wire.request('session/list'));
  const content = {
    about: t('Agent Voice diagnostics. It holds no words of yours, no paths and no keys. Read it before you share it.'),
    extension: { version, editor: `${vscode.env.appName} ${vscode.version}`, remote: remote(vscode.env.remoteName), trusted: vscode.workspace.isTrusted },
    report,
    usage,
    sessions: past?.sessions ?? [],
    transitions: history?.transitions ?? [],
    journal: await journal(conversation.wire),
  };
  const document = await vscode.workspace.openTextDocument({ language: 'json', content: JSON.stringify(content, null, 2) });
  await vscode.window.showTextDocument(document);
}

/** The kind of a remote window. Other names are omitted, because they may identify a machine. */
function remote(name: string | undefined): string {
  return name === undefined ? 'none' : ['ssh-remote', 'wsl', 'dev-container', 'attached-container', 'codespaces', 'tunnel'].includes(name) ? name : 'other';
}

/** The redacted journal. The daemon writes it to a temporary file, which is deleted. */
async function journal(wire: Conversation['wire']): Promise<unknown[]> {
  try {
    const written = await wire?.request('diagnostics/journal', { content: 'redacted' });
    if (written === undefined) {
      return [];
    }
    const text = await readFile(written.path, 'utf8');
    await rm(written.path, { force: true });
    return text.split('\n').filter((line) => line.trim() !== '').map((line): unknown => JSON.parse(line));
  } catch {
    return []; // no journal before the first conversation, or journals are disabled
  }
}
