// Which tools make the editor ask the user. A call from here has no chat request, so the editor asks in a
// modal dialog after the spoken yes. No API reports this in advance, so this lists the known tools and
// remembers tools that were refused in a dialog.

import type { Memento } from 'vscode';

/** Tools of the editor and of Copilot that ask before they act. */
const KNOWN: ReadonlySet<string> = new Set([
  'run_in_terminal', 'send_to_terminal', 'create_and_run_task', 'run_task', 'vscode_fetchWebPage_internal',
  'copilot_runInTerminal', 'copilot_runVscodeCommand', 'copilot_installExtension', 'copilot_fetchWebPage', 'copilot_createNewWorkspace',
  'copilot_createAndRunTask', 'copilot_runTask', 'copilot_runNotebookCell',
]);
const LEARNED = 'agentvoice.tools.confirming';

export class Confirming {
  constructor(
    private readonly store: Pick<Memento, 'get' | 'update'>,
    private readonly onLearn: () => void,
  ) {}

  /** Whether the editor asks about a tool's calls, as far as known. */
  asks(tool: { readonly name: string; readonly tags?: readonly string[] }): boolean {
    return KNOWN.has(tool.name) || tool.tags?.includes('mcp') === true || this.learned().includes(tool.name);
  }

  /** Records that a dialog appeared for this tool. */
  learn(name: string): void {
    const before = this.learned();
    if (!before.includes(name)) {
      void this.store.update(LEARNED, [...before, name]).then(this.onLearn);
    }
  }

  private learned(): readonly string[] {
    return this.store.get<string[]>(LEARNED, []);
  }
}
