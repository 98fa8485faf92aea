// The keys of Agent Voice while a terminal has the focus. package.json adds their commands to the default of the
// terminal's list of commands that do not go to the shell. A list of the user's own replaces that default.

import * as vscode from 'vscode';
import type { Translate } from './text';

/** Key of the global state that records that the user was told. */
const TOLD = 'agentvoice.terminalKeysTold';

const SECTION = 'terminal.integrated';
const LIST = 'commandsToSkipShell';

/** The commands with keys. */
export const KEYED = ['toggle', 'holdToTalk', 'stopSpeaking', 'pauseSpeech', 'toggleMute', 'approve', 'reject', 'repeat'].map((name) => `agentvoice.${name}`);

/** Tells the user once if keys do not work in the terminal, with what to add. A command that the list removes with "-" is the user's choice. */
export async function tellOfTerminalKeys(memory: vscode.Memento, t: Translate): Promise<void> {
  const terminal = vscode.workspace.getConfiguration(SECTION);
  const list = terminal.get<readonly string[]>(LIST, []);
  const missing = KEYED.filter((command) => !list.includes(command) && !list.includes(`-${command}`));
  if (missing.length === 0 || terminal.get('sendKeybindingsToShell', false) || memory.get(TOLD) === true) {
    return;
  }
  await memory.update(TOLD, true);
  const line = missing.map((command) => `"${command}"`).join(', ');
  const copy = t('Copy');
  const open = t('Open Settings');
  const chosen = await vscode.window.showInformationMessage(
    t('The keys of Agent Voice do not work while a terminal has the focus, because you have your own list {0}. Add to it: {1}', `${SECTION}.${LIST}`, line), copy, open);
  if (chosen === copy) {
    await vscode.env.clipboard.writeText(line);
  } else if (chosen === open) {
    await vscode.commands.executeCommand('workbench.action.openSettings', `${SECTION}.${LIST}`);
  }
}
