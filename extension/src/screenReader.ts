// A screen reader and a voice assistant in one room: the reader's voice reaches the
// microphone, and two voices speak at once. This offers what helps.

import * as vscode from 'vscode';
import type { Translate } from './text';

/** Where the editor remembers that the user was asked. */
const ASKED = 'agentvoice.screenReaderAsked';

export class ScreenReader {
  constructor(private readonly memory: vscode.Memento, private readonly t: Translate) {}

  /** The panel sees that VS Code works with a screen reader. The user is asked once. */
  async seen(): Promise<void> {
    if (this.memory.get(ASKED) !== true) {
      await this.memory.update(ASKED, true);
      await this.setUp();
    }
  }

  /** Asks how to talk beside a screen reader, and sets it for the user. */
  async setUp(): Promise<void> {
    const { t } = this;
    const headphones = t('I use headphones');
    const key = t('Hold a key to talk');
    const reader = t('Let the screen reader read');
    const chosen = await vscode.window.showInformationMessage(
      t('A screen reader is in use. Through speakers, the microphone hears it. Use headphones, or hold a key to talk. The screen reader can also read the answers in place of the voice.'),
      headphones, key, reader,
    );
    if (chosen === undefined) {
      return;
    }
    // With tones, the state need not be read aloud at each change.
    await this.set({
      'cues.enabled': true,
      ...(chosen === headphones ? {} : { 'turnDetection.mode': 'pushToTalk' }),
      'voice.silent': chosen === reader,
    });
  }

  private async set(values: Readonly<Record<string, unknown>>): Promise<void> {
    const settings = vscode.workspace.getConfiguration('agentvoice');
    for (const [name, value] of Object.entries(values)) {
      if (settings.get(name) !== value) {
        await settings.update(name, value, vscode.ConfigurationTarget.Global);
      }
    }
  }
}
