// API keys of voice services, in the editor's secret storage. They are sent only to the daemon, on request.

import * as vscode from 'vscode';
import type { CredentialsParams, CredentialsResult, Provider } from './protocol.gen';
import type { Translate } from './text';

export class Keys {
  constructor(
    private readonly secrets: vscode.SecretStorage,
    private readonly t: Translate,
  ) {}

  /** The key for a provider. Fails without a key; the daemon then explains what to do. */
  async get({ provider, kind, endpoint }: CredentialsParams): Promise<CredentialsResult> {
    if (kind === 'bearerToken') {
      throw new Error('only keys are stored');
    }
    const value = await this.secrets.get(kind === 'chatKey' ? chatName(endpoint ?? '') : name(provider));
    if (value === undefined) {
      throw new Error('no key is stored');
    }
    return { value };
  }

  /** Whether a key for a provider is stored. */
  async has(provider: Provider): Promise<boolean> {
    return (await this.secrets.get(name(provider))) !== undefined;
  }

  /** Asks for a key and stores it; returns whether the user entered one. */
  async ask(provider: Provider): Promise<boolean> {
    const value = await vscode.window.showInputBox({
      title: this.t('Key for {0}', provider),
      prompt: this.t('It is kept in the editor’s secret storage, and sent only to the service.'),
      password: true,
      ignoreFocusOut: true,
      validateInput: (text) => (text.trim() === '' ? this.t('Enter the key.') : undefined),
    });
    if (value === undefined || value.trim() === '') {
      return false;
    }
    await this.secrets.store(name(provider), value.trim());
    return true;
  }

  /** Asks for the key of a chat endpoint and stores it for this address only. An endpoint may need none; returns false if the user cancelled. */
  async askForChat(endpoint: string): Promise<boolean> {
    const value = await vscode.window.showInputBox({
      title: this.t('Key for {0}', endpoint),
      prompt: this.t('It is kept in the editor’s secret storage, and sent only to this address. Leave it empty if the endpoint needs none, or to keep the stored one.'),
      password: true,
      ignoreFocusOut: true,
    });
    if (value !== undefined && value.trim() !== '') {
      await this.secrets.store(chatName(endpoint), value.trim());
    }
    return value !== undefined;
  }

  async remove(provider: Provider): Promise<void> {
    await this.secrets.delete(name(provider));
  }
}

function chatName(endpoint: string): string {
  return `agentvoice.key.chat:${endpoint}`;
}

function name(provider: Provider): string {
  return `agentvoice.key.${provider}`;
}
