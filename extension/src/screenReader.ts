// With a screen reader, its voice reaches the microphone, and two voices speak at once. This offers settings
// that help.

import * as vscode from 'vscode';
import type { Translate } from './text';

/** Key of the global state that records that the user was asked. */
const ASKED = 'agentvoice.screenReaderAsked';

export class ScreenReader {
  constructor(private readonly memory: vscode.Memento, private readonly t: Translate) {}

  /** The panel reported that VS Code works with a screen reader. Asks the user once. */
  async seen(): Promise<void> {
    if (this.memory.get(ASKED) !== true) {
      await this.memory.update(ASKED, true);
      await this.setUp();
    }
  }

  /** Asks how to work with a screen reader, and changes the settings accordingly. */
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
    // With tones, state changes need not be announced.
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
