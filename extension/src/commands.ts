// What the commands do.

import * as vscode from 'vscode';
import type { Consent } from './copilot/languageModels';
import { diagnosticsOf } from './diagnostics';
import type { Command } from './extension';
import { isActive } from './model';
import { PROVIDERS, type Device, type Provider } from './protocol.gen';
import type { Window } from './window';

export type Actions = Readonly<Record<Command, (...args: unknown[]) => unknown>> & {
  /** Whether Copilot may be asked. Where the editor has to ask the user for that, it does. */
  readonly mayAsk: () => Promise<boolean>;
};

const t = vscode.l10n.t;

/** How much is read aloud from the cursor on, in characters. */
const READ = 20_000;
/** Remembers that the editor let the extension ask. */
const ALLOWED = 'agentvoice.copilotAllowed';

export function actions(w: Window): Actions {
  const c = w.conversation;
  const set = (): vscode.WorkspaceConfiguration => vscode.workspace.getConfiguration('agentvoice');

  const start = async (takeOver: boolean): Promise<void> => {
    void vscode.commands.executeCommand('agentvoice.panel.focus', { preserveFocus: true });
    if (!(await mayAsk())) {
      return;
    }
    const model = w.inChatView() ? true : w.models.pick(set().get('copilot.model', ''));
    const started = await c.start(takeOver); // what kept it from starting is the news then
    if ((await model) === undefined && started) {
      notInstalled();
    }
  };

  let asking: Promise<Consent> | undefined;
  const ask = (): Promise<Consent> =>
    (asking ??= w.models.consent().then(async (consent) => {
      await w.extension.globalState.update(ALLOWED, consent === 'allowed' ? true : undefined);
      return consent;
    }).finally(() => (asking = undefined)));

  /** The editor's question is asked before the microphone opens, and not in the middle of a sentence. */
  const mayAsk = async (): Promise<boolean> => {
    if (w.inChatView() || isActive(c.model.snapshot) || w.extension.globalState.get(ALLOWED) === true) {
      return true;
    }
    c.change({ is: 'starting', starting: true });
    if ((await ask()) === 'refused') {
      refused();
      return false;
    }
    return c.model.starting; // the user may have ended it meanwhile
  };

  const refused = (): void =>
    c.fail({
      code: 'copilotNoConsent',
      message: t('Agent Voice may not use Copilot yet.'),
      remediation: t('Allow it in the editor’s dialog: without it there is nobody to answer.'),
      retryable: false,
    });

  const notInstalled = (): void =>
    c.fail({
      code: 'copilotNotInstalled',
      message: t('There is no language model in this editor.'),
      remediation: t('Install GitHub Copilot and sign in. You can talk without it, but there is no answer.'),
      retryable: false,
    });

  const read = async (text: string): Promise<void> => {
    if (text.trim() !== '') {
      await c.read(text);
    } else {
      c.fail({ code: 'noSelection', message: t('There is no text to read.'), remediation: t('Select some, or put the cursor where to begin.'), retryable: false });
    }
  };

  return {
    mayAsk,
    start: () => start(false),
    takeOver: () => start(true),
    end: () => c.end(),
    toggle: () => (isActive(c.model.snapshot) || c.model.starting ? c.end() : start(false)),
    statusClicked: () => (isActive(c.model.snapshot) || c.model.problem !== undefined ? vscode.commands.executeCommand('agentvoice.panel.focus') : start(false)),
    holdToTalk: () => w.key.pressed(),
    stopSpeaking: () => c.interrupt('command'),
    toggleMute: () => c.mute(!c.model.muted),
    pause: () => c.togglePause(),
    pauseSpeech: () => c.toggleSpeech(),
    sendNow: () => c.sendNow(),
    type: async (text) => {
      const said = typeof text === 'string' ? text : await vscode.window.showInputBox({ title: t('Type a message'), prompt: t('It is part of the spoken conversation.') });
      if (said !== undefined && said.trim() !== '' && (await mayAsk())) {
        await c.say(said);
      }
    },
    retry: () => c.retry(),
    repeat: () => c.repeat(),
    approve: () => c.approve(true),
    reject: () => c.approve(false),
    readSelection: () => {
      const editor = vscode.window.activeTextEditor;
      return read(editor?.document.getText(editor.selection) ?? '');
    },
    readFromHere: () => {
      const editor = vscode.window.activeTextEditor;
      if (editor === undefined) {
        return read('');
      }
      const from = editor.document.offsetAt(editor.selection.active);
      const end = editor.document.positionAt(from + READ);
      return read(editor.document.getText(new vscode.Range(editor.selection.active, end)));
    },
    selectMicrophone: () => selectDevice(w, 'inputs'),
    selectSpeaker: () => selectDevice(w, 'outputs'),
    selectModel: () => selectModel(w),
    selectTools: () => selectTools(),
    allowCopilot: async () => {
      const consent = await ask();
      if (consent === 'allowed') {
        c.change({ is: 'dismiss' });
      } else {
        (consent === 'refused' ? refused : notInstalled)();
      }
    },
    setKey: async () => {
      const provider = await whichProvider();
      if (provider !== undefined && (await w.keys.ask(provider))) {
        c.change({ is: 'dismiss' });
      }
    },
    removeKey: async () => {
      const provider = await whichProvider();
      if (provider !== undefined) {
        await w.keys.remove(provider);
      }
    },
    clearTranscript: () => c.change({ is: 'clear' }),
    exportDiagnostics: () => diagnosticsOf(w),
    restartDaemon: () => c.restart(),
    showPanel: () => vscode.commands.executeCommand('agentvoice.panel.focus'),
    showLog: () => w.log.show(),
    openSettings: () => vscode.commands.executeCommand('workbench.action.openSettings', `@ext:${w.extension.extension.id}`),
    openWalkthrough: () => vscode.commands.executeCommand('workbench.action.openWalkthrough', `${w.extension.extension.id}#agentvoice.welcome`, false),
    installCopilot: () => vscode.commands.executeCommand('workbench.extensions.search', 'GitHub.copilot-chat'),
    manageCopilot: () => vscode.env.openExternal(vscode.Uri.parse('https://github.com/settings/copilot')),
    microphoneSettings: () =>
      vscode.env.openExternal(
        vscode.Uri.parse(process.platform === 'darwin' ? 'x-apple.systempreferences:com.apple.preference.security?Privacy_Microphone' : 'ms-settings:privacy-microphone')),
    manageTrust: () => vscode.commands.executeCommand('workbench.trust.manage'),
    updateExtension: () => vscode.commands.executeCommand('workbench.extensions.search', `@id:${w.extension.extension.id}`),
  };
}

async function selectDevice(w: Window, which: 'inputs' | 'outputs'): Promise<void> {
  const found = await w.conversation.ask((wire) => wire.request('audio/devices'));
  if (found === undefined) {
    return;
  }
  const standard = { label: t('System default'), description: t('follows the system'), device: undefined as Device | undefined };
  const items = [standard, ...found[which].map((device) => ({
    label: device.isSelected ? `$(check) ${device.name}` : device.name,
    description: device.isDefault ? t('default') : '',
    device: device as Device | undefined,
  }))];
  const picked = await vscode.window.showQuickPick(items, {
    title: which === 'inputs' ? t('Choose Microphone') : t('Choose Loudspeaker'),
    placeHolder: t('It is used at once, and from now on.'),
  });
  if (picked !== undefined) {
    const name = which === 'inputs' ? 'audio.inputDevice' : 'audio.outputDevice';
    // The change of the setting is what reaches the daemon.
    await vscode.workspace.getConfiguration('agentvoice').update(name, picked.device?.name ?? undefined, vscode.ConfigurationTarget.Global);
  }
}

async function selectModel(w: Window): Promise<void> {
  const models = await w.models.models();
  const items = [
    { label: t('The editor’s choice'), description: '', id: undefined as string | undefined },
    ...models.map((m) => ({ label: m.name, description: `${m.vendor} ${m.id}`, id: m.id as string | undefined })),
  ];
  const picked = await vscode.window.showQuickPick(items, { title: t('Choose Model'), placeHolder: t('It answers from the next question on.') });
  if (picked !== undefined) {
    await vscode.workspace.getConfiguration('agentvoice').update('copilot.model', picked.id, vscode.ConfigurationTarget.Global);
    await w.models.pick(picked.id ?? '');
  }
}

async function selectTools(): Promise<void> {
  const set = vscode.workspace.getConfiguration('agentvoice');
  const allowed = set.get<string[]>('tools.allowed', []);
  const items = vscode.lm.tools.map((tool) => ({ label: tool.name, detail: tool.description.split('\n')[0] ?? '', picked: allowed.includes(tool.name) }));
  const picked = await vscode.window.showQuickPick(items, {
    title: t('Choose Tools'),
    placeHolder: t('Copilot may ask for these. You are asked about each call.'),
    canPickMany: true,
  });
  if (picked !== undefined) {
    const known = new Set(items.map((i) => i.label));
    const rest = allowed.filter((name) => !known.has(name)); // patterns, and tools that are not here now
    await set.update('tools.allowed', [...rest, ...picked.map((i) => i.label)], vscode.ConfigurationTarget.Global);
  }
}

async function whichProvider(): Promise<Provider | undefined> {
  const set = vscode.workspace.getConfiguration('agentvoice').get<Provider>('provider', 'local');
  if (set !== 'local') {
    return set;
  }
  const picked = await vscode.window.showQuickPick(PROVIDERS.filter((p) => p !== 'local'), { title: t('Which voice service?') });
  return PROVIDERS.find((p) => p === picked);
}
