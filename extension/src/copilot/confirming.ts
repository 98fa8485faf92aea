// Which tools the editor asks the user about by itself. A call from here has no
// chat request, so the editor does that in a modal dialog, after the spoken yes.
// No API tells beforehand: some tools are known for it, and one that was refused in
// its dialog is remembered.

import type { Memento } from 'vscode';

/** Tools of the editor and of Copilot that ask before they do something. */
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

  /** Whether the editor asks about calls of a tool, as far as it is known. */
  asks(tool: { readonly name: string; readonly tags?: readonly string[] }): boolean {
    return KNOWN.has(tool.name) || tool.tags?.includes('mcp') === true || this.learned().includes(tool.name);
  }

  /** A dialog was seen for this tool. */
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
