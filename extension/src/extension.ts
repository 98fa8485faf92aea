// Activation registers names and nothing else. The rest loads on first use.

import * as vscode from 'vscode';
import { COMMANDS } from './commandNames';
import { HELD } from './held';
import { load } from './panelPage';
import type { Window } from './window';

let window: Window | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const began = performance.now();
  const log = vscode.window.createOutputChannel('Agent Voice', { log: true });
  const status = vscode.window.createStatusBarItem('agentvoice.status', vscode.StatusBarAlignment.Left, 10);
  status.name = 'Agent Voice';
  status.text = '$(mic) Agent Voice';
  status.tooltip = vscode.l10n.t('Click to start a conversation.');
  status.accessibilityInformation = { label: vscode.l10n.t('Agent Voice: Ready'), role: 'button' };
  status.command = 'agentvoice.statusClicked';
  status.show();

  const opened = (): Window => {
    if (window === undefined) {
      const { Window: Opened } = require('./window.js') as typeof import('./window');
      window = new Opened(context, log, status);
    }
    return window;
  };
  context.subscriptions.push(
    log,
    status,
    vscode.window.registerWebviewViewProvider('agentvoice.panel', {
      resolveWebviewView: (view) => {
        load(view, context.extensionPath);
        const rest = setTimeout(() => opened().connect(view)); // after VS Code's own timer, which sends the page
        view.onDidDispose(() => clearTimeout(rest));
      },
    }, {
      webviewOptions: { retainContextWhenHidden: true }, // so that the panel shows its state immediately when it reappears
    }),
    ...COMMANDS.map((name) => vscode.commands.registerCommand(`agentvoice.${name}`, (...args: unknown[]) => opened().run(name, args))),
    participant(opened),
    vscode.lm.registerTool<{ text?: unknown }>('agentvoice_say', aloud((input, token) => opened().aloud.say(input.text, token))),
    vscode.lm.registerTool<{ question?: unknown }>('agentvoice_ask', aloud((input, token) => opened().aloud.ask(input.question, token))),
  );
  if (vscode.workspace.getConfiguration('agentvoice').get('wake.enabled', false)) {
    setImmediate(() => opened().listenForPhrase()); // activation by phrase must work before the first use
  }
  if (context.workspaceState.get(HELD) !== undefined) {
    setImmediate(() => opened()); // the transcript of before the window was loaded again is held for a minute
  }
  log.info(`activated in ${(performance.now() - began).toFixed(1)} ms`);
}

/** @voice: typed questions in the same conversation. */
function participant(opened: () => Window): vscode.Disposable {
  const p = vscode.chat.createChatParticipant('agentvoice.voice', (request, chat, stream, token) => opened().participate(request, chat, stream, token));
  p.iconPath = new vscode.ThemeIcon('mic');
  return p;
}

/** A tool for other agents. It declares no confirmation, so that no dialog opens. */
function aloud<T>(run: (input: T, token: vscode.CancellationToken) => Promise<string>): vscode.LanguageModelTool<T> {
  return {
    invoke: async ({ input }, token) => new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(await run(input, token))]),
  };
}

export function deactivate(): Promise<void> | undefined {
  const closing = window?.close();
  window = undefined;
  return closing;
}
