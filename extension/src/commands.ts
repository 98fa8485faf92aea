// Implementations of the commands.

import * as vscode from 'vscode';
import { type Chooser, chooseAssistant } from './chooseAssistant';
import type { Command } from './commandNames';
import type { Conversation } from './conversation';
import type { Confirming } from './copilot/confirming';
import type { Consent } from './copilot/languageModels';
import { ALOUD } from './copilot/tools';
import { choices } from './devices';
import { diagnosticsOf } from './diagnostics';
import type { HoldKey } from './holdKey';
import { type Site, installLocalVoice } from './localVoice';
import { isActive } from './model';
import type { Device, Provider } from './protocol.gen';
import { keyed } from './providers';
import { microphoneSettings } from './remedies';
import type { ScreenReader } from './screenReader';
import { markdownOf } from './transcriptText';
import { shownLines } from './view';
import { type Audience, selectVoice } from './voices';

export type Actions = Readonly<Record<Command, (...args: unknown[]) => unknown>> & {
  /** Whether Copilot access is granted, through its model or the Chat view. Prompts the user if the editor requires it. */
  readonly mayAsk: (model?: boolean) => Promise<boolean>;
};

const t = vscode.l10n.t;

/** Maximum length read aloud from the cursor, in characters. */
const READ = 20_000;

/** What the commands need of the window. */
export interface Desk extends Audience, Site, Chooser {
  readonly conversation: Conversation;
  readonly log: vscode.LogOutputChannel;
  readonly key: HoldKey;
  readonly confirming: Confirming;
  readonly reader: ScreenReader;
  readonly extension: { readonly extension: Pick<vscode.Extension<unknown>, 'id' | 'packageJSON'> };
  /** the devices that were last listed */
  devices: readonly Device[];
  needsModel(): boolean;
  say(message: string): void;
  keep(unsent: string): void;
  checkSetup(): Promise<void>;
}

export function actions(w: Desk): Actions {
  const c = w.conversation;

  const start = async (takeOver: boolean): Promise<void> => {
    void vscode.commands.executeCommand('agentvoice.panel.focus', { preserveFocus: true });
    if (await mayAnswer()) {
      await c.start(takeOver); // whatever prevented the start is now the problem to show
    }
  };

  /** Whether someone can answer. Where the editor has no language model, the user may choose who else does. */
  const mayAnswer = async (): Promise<boolean> => {
    if (!(await mayAsk())) {
      return false;
    }
    if (!w.needsModel() || isActive(c.model.snapshot) || w.models.model !== undefined) {
      return true;
    }
    c.change({ is: 'starting', starting: false });
    const chosen = await chooseAssistant(w, t('There is no language model in this editor. Choose who answers.'));
    if (!chosen && c.model.problem === undefined) {
      notInstalled();
    }
    return chosen;
  };

  let asking: Promise<Consent> | undefined;
  const ask = (): Promise<Consent> => (asking ??= w.models.consent().finally(() => (asking = undefined)));

  /** Gets the editor's consent prompt out of the way before the microphone opens rather than in the middle of a sentence. It appears only once. */
  const mayAsk = async (model = w.needsModel()): Promise<boolean> => {
    if (!model || isActive(c.model.snapshot) || w.models.allowed) {
      return true;
    }
    c.change({ is: 'starting', starting: true });
    if ((await ask()) === 'refused') {
      w.access(false);
      return false;
    }
    return c.model.starting; // the user may have cancelled meanwhile
  };

  const notInstalled = (): void =>
    c.fail({
      code: 'copilotNotInstalled',
      message: t('There is no language model in this editor.'),
      remediation: t('Choose another assistant, or install GitHub Copilot and sign in.'),
      retryable: false,
    });

  const read = async (text: string): Promise<void> => {
    if (text.trim() !== '') {
      await c.read(text);
    } else {
      c.fail({ code: 'noSelection', message: t('There is no text to read.'), remediation: t('Select some, or put the cursor where reading should start.'), retryable: false });
    }
  };

  return {
    mayAsk,
    start: () => start(false),
    takeOver: () => start(true),
    end: () => c.end(),
    toggle: () => (isActive(c.model.snapshot) || c.model.starting ? c.end() : start(false)),
    statusClicked: () =>
      c.model.problem !== undefined ? vscode.commands.executeCommand('agentvoice.panel.focus')
      : isActive(c.model.snapshot) || c.model.starting ? c.end() : start(false),
    holdToTalk: () => w.key.pressed(),
    stopSpeaking: () => c.interrupt('command'),
    toggleMute: () => c.toggleMute(),
    pause: () => c.togglePause(),
    pauseSpeech: () => c.toggleSpeech(),
    sendNow: () => c.sendNow(),
    type: async (text) => {
      const said = typeof text === 'string' ? text : await vscode.window.showInputBox({ title: t('Type a message'), prompt: t('It is part of the spoken conversation.') });
      if (said !== undefined && said.trim() !== '') {
        w.keep('');
        const turn = (await mayAnswer()) ? await c.say(said) : undefined;
        const sent = turn === '' ? await c.unqueued() : turn !== undefined;
        w.keep(sent ? '' : said);
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
    selectAssistant: () => chooseAssistant(w),
    selectTools: () => selectTools(w),
    installLocalVoice: () => installLocalVoice(w),
    selectVoice: () => selectVoice(w),
    allowCopilot: async () => {
      const consent = await ask();
      if (consent === 'allowed') {
        c.change({ is: 'dismiss' });
      } else {
        (consent === 'refused' ? () => w.access(false) : notInstalled)();
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
    clearTranscript: () => clearTranscript(w),
    exportTranscript: () => exported(w, async (text) => void (await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content: text, language: 'markdown' })))),
    copyTranscript: () => exported(w, async (text) => {
      await vscode.env.clipboard.writeText(text);
      w.say(t('The transcript was copied.'));
    }),
    checkSetup: () => w.checkSetup(),
    setUpScreenReader: () => w.reader.setUp(),
    exportDiagnostics: () => diagnosticsOf(c, (w.extension.extension.packageJSON as { version: string }).version),
    restartDaemon: () => c.restart(),
    showPanel: () => vscode.commands.executeCommand('agentvoice.panel.focus'),
    showLog: () => w.log.show(),
    openSettings: () => vscode.commands.executeCommand('workbench.action.openSettings', `@ext:${w.extension.extension.id}`),
    openWalkthrough: () => vscode.commands.executeCommand('workbench.action.openWalkthrough', `${w.extension.extension.id}#agentvoice.welcome`, false),
    installCopilot: () => vscode.commands.executeCommand('workbench.extensions.search', 'GitHub.copilot-chat'),
    manageCopilot: () => vscode.env.openExternal(vscode.Uri.parse('https://github.com/settings/copilot')),
    openHelp: () => c.openHelp(),
    microphoneSettings: () => {
      const settings = microphoneSettings(process.platform);
      if (settings !== undefined) {
        return vscode.env.openExternal(vscode.Uri.parse(settings));
      }
      c.fail({
        code: 'microphoneDenied',
        message: t('This system has no settings page for microphone permissions.'),
        remediation: t('Look at the sound settings of your desktop. An editor from Snap or Flatpak needs permission to record: snap connect NAME:audio-record, or Flatseal.'),
        retryable: true,
      });
      return undefined;
    },
    manageTrust: () => vscode.commands.executeCommand('workbench.trust.manage'),
    updateExtension: () => vscode.commands.executeCommand('workbench.extensions.search', `@id:${w.extension.extension.id}`),
  };
}

/** Clears the transcript, and offers to restore it. */
async function clearTranscript({ conversation: c }: Pick<Desk, 'conversation'>): Promise<void> {
  const { lines, clearedSeq } = c.model;
  if (lines.length === 0) {
    return;
  }
  c.change({ is: 'clear' });
  const undo = t('Undo');
  if ((await vscode.window.showInformationMessage(t('The transcript was cleared.'), undo)) === undo) {
    c.change({ is: 'restored', lines, clearedSeq });
  }
}

/** Passes the transcript on as Markdown. */
async function exported(w: Pick<Desk, 'conversation' | 'say'>, to: (text: string) => Promise<void>): Promise<void> {
  const clock = new Intl.DateTimeFormat(vscode.env.language, { dateStyle: 'medium', timeStyle: 'short' });
  const text = markdownOf(shownLines(t)(w.conversation.model.lines), t, (time) => clock.format(new Date(time)));
  if (text === '') {
    w.say(t('The transcript is empty.'));
  } else {
    await to(text);
  }
}

async function selectDevice(w: Pick<Desk, 'conversation' | 'devices'>, which: 'inputs' | 'outputs'): Promise<void> {
  const found = await w.conversation.ask((wire) => wire.request('audio/devices'));
  if (found === undefined) {
    return;
  }
  w.devices = [...found.inputs, ...found.outputs];
  const picked = await vscode.window.showQuickPick(choices(found[which], t), {
    title: which === 'inputs' ? t('Choose Microphone') : t('Choose Speaker'),
    placeHolder: t('It is used immediately, and from now on.'),
  });
  if (picked !== undefined) {
    const name = which === 'inputs' ? 'audio.inputDevice' : 'audio.outputDevice';
    const value = picked.value ?? 'default';
    const selected = await w.conversation.ask((wire) => wire.request('audio/select', which === 'inputs' ? { input: value } : { output: value }));
    if (selected === undefined) {
      return; // refused, for example because the device is gone; the problem is shown
    }
    // The setting preserves the choice for later windows.
    await vscode.workspace.getConfiguration('agentvoice').update(name, picked.value, vscode.ConfigurationTarget.Global);
  }
}

async function selectTools({ confirming }: Pick<Desk, 'confirming'>): Promise<void> {
  const set = vscode.workspace.getConfiguration('agentvoice');
  const allowed = set.get<string[]>('tools.allowed', []);
  const items = vscode.lm.tools.filter((tool) => !ALOUD.has(tool.name)).map((tool) => ({ label: tool.name, description: confirming.asks(tool) ? t('the editor asks again in a dialog') : '', detail: tool.description.split('\n')[0] ?? '', picked: allowed.includes(tool.name) }));
  const picked = await vscode.window.showQuickPick(items, {
    title: t('Choose Tools'),
    placeHolder: t('Copilot may ask for these. You are asked about each call.'),
    canPickMany: true,
  });
  if (picked !== undefined) {
    const known = new Set(items.map((i) => i.label));
    const rest = allowed.filter((name) => !known.has(name)); // patterns, and tools that are currently missing
    await set.update('tools.allowed', [...rest, ...picked.map((i) => i.label)], vscode.ConfigurationTarget.Global);
  }
}

async function whichProvider(): Promise<Provider | undefined> {
  const set = vscode.workspace.getConfiguration('agentvoice');
  const all = keyed((name) => set.get(name, ''));
  if (all.length === 1) {
    return all[0];
  }
  const picked = await vscode.window.showQuickPick([...all], { title: t('Which voice service?') });
  return all.find((p) => p === picked);
}
