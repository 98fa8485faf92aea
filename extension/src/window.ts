// The window connects the conversation with the editor. It is created on first use.

import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { checked, nameOfAgent } from './chooseAssistant';
import type { Command } from './commandNames';
import { type Actions, actions } from './commands';
import { Conversation } from './conversation';
import { Aloud } from './copilot/aloud';
import { Assistants } from './copilot/assistants';
import { ChatExport } from './copilot/chatExport';
import { ChatView } from './copilot/chatView';
import { Confirming } from './copilot/confirming';
import { Context } from './copilot/context';
import { Guard } from './copilot/guard';
import { LanguageModels } from './copilot/languageModels';
import { participate } from './copilot/participant';
import { ChatQuestions } from './copilot/questions';
import { editorCommand } from './editorCommands';
import { check, sourceOf } from './daemon/find';
import { nameOf } from './devices';
import { openFolders, placeOfFolders } from './folders';
import { HoldKey } from './holdKey';
import { Insertion } from './insert';
import { KeptTranscript } from './kept';
import { type Model, isActive, mayHear } from './model';
import { type Feed, connect } from './panel';
import type { FromPage } from './panelwire';
import { type Device, MUTE_REASONS } from './protocol.gen';
import { hears } from './providers';
import { PANEL_COMMANDS } from './remedies';
import { ScreenReader } from './screenReader';
import { Keys } from './secrets';
import { changed, configuration } from './settings';
import { strings } from './strings';
import { type StatusItem, type Surroundings, type View, assistantOf, present, shownLines, statusOf } from './view';
import { watchLock } from './lock';
import { tellOfTerminalKeys } from './terminalKeys';
import { Files } from './tools/files';
import { OwnTools } from './tools/own';
import { workspaceWords } from './words';

const t = vscode.l10n.t;

/** Key of the workspace state that records who muted the microphone. */
const MUTED = 'agentvoice.mutedBy';
/** Delay of the status bar and the context keys after a change, so that they do not hold up the panel. */
const STATUS_AFTER = 100;
/** Delay after a change before the workspace's names are sent again. */
const WORDS_AFTER = 1000;

export class Window implements vscode.Disposable {
  readonly conversation: Conversation;
  readonly models: LanguageModels;
  readonly context: Context;
  readonly keys: Keys;
  readonly confirming: Confirming;
  readonly aloud: Aloud;
  readonly reader: ScreenReader;
  private readonly tools: OwnTools;
  readonly key: HoldKey;
  /** the devices that were last listed */
  devices: readonly Device[] = [];
  private unsent = '';
  /** the result of checkSetup */
  private found: Surroundings['found'] = {};
  private readonly questions = new ChatQuestions();
  private readonly insertion = new Insertion(t);
  private readonly kept: KeptTranscript;
  private readonly actions: Actions;
  private readonly subscriptions: vscode.Disposable[] = [];
  private readonly contextKeys = new Map<string, unknown>();
  private readonly refreshers = new Set<() => void>();
  private statusTimer: ReturnType<typeof setTimeout> | undefined;
  /** what the status bar shows, as JSON */
  private shownItem = '';
  /** the view of the last change, while the status bar waits for it */
  private shown: View | undefined;
  private wordsTimer: ReturnType<typeof setTimeout> | undefined;
  private stopLockWatch: (() => void) | undefined;
  private headless: vscode.Disposable | undefined;

  constructor(
    readonly extension: vscode.ExtensionContext,
    readonly log: vscode.LogOutputChannel,
    private readonly status: vscode.StatusBarItem,
  ) {
    const guard = new Guard(userFolder(extension), () => this.refresh());
    this.context = new Context(t, guard);
    this.confirming = new Confirming(extension.globalState, () => this.conversation.offerTools());
    this.tools = new OwnTools(new Files(guard), log, t, (callId, outcome) => this.conversation.change({ is: 'outcome', callId, outcome }));
    this.keys = new Keys(extension.secrets, t);
    this.reader = new ScreenReader(extension.globalState, t);
    this.models = new LanguageModels({
      material: () => this.context.material(),
      access: extension.languageModelAccessInformation,
      confirming: this.confirming,
      own: this.tools,
      log,
      t,
      onModel: () => this.nameAssistant(),
      onAccess: (allowed) => this.access(allowed),
    });
    const exported = new ChatExport();
    const chat = new ChatView(exported, t);
    this.aloud = new Aloud({
      read: (text) => this.conversation.read(text),
      onChange: (f) => this.conversation.onChange(f),
      model: () => this.conversation.model,
    }, (text) => chat.say(text));
    this.conversation = new Conversation({
      launch: () => this.launch(),
      configuration,
      locale: vscode.env.language,
      client: { name: vscode.env.appName, version: vscode.version },
      assistant: new Assistants(this.models, chat, this.questions, () => this.inChatView(), this.aloud, t),
      secret: (params) => this.keys.get(params),
      openExternal: async (url) => void (await vscode.env.openExternal(vscode.Uri.parse(url, true))),
      command: async (params) => (await this.tools.command(params)) ?? editorCommand(params, this.conversation.model),
      windowLives,
      words: () => workspaceWords(guard, (text) => log.warn(text)),
      workspace: openFolders,
      muted: MUTE_REASONS.find((by) => by === extension.workspaceState.get(MUTED)),
      keepMuted: (by) => void extension.workspaceState.update(MUTED, by),
      log,
      t,
    });
    this.key = new HoldKey((down) => void this.conversation.hold(down));
    this.actions = actions(this);
    this.subscriptions.push(exported, this.insertion, { dispose: this.conversation.onChange((m) => this.changed(m)) });
    this.kept = new KeptTranscript(extension.workspaceState, join(extension.extensionPath, 'dist', 'keeper.js'), mayStore, log);
    void this.reload();
    this.watchEditor();
    void tellOfTerminalKeys(extension.globalState, t);
    this.nameAssistant();
    this.changed(this.conversation.model);
    this.showStatus();
  }

  /** Shows the transcript of this window before it was loaded again. */
  private async reload(): Promise<void> {
    const lines = await this.kept.take();
    if (lines.length > 0) {
      this.conversation.change({ is: 'reloaded', lines, divider: t('Before this window was opened. The assistant does not remember it.'), at: Date.now() });
    }
  }

  inChatView(): boolean {
    return vscode.workspace.getConfiguration('agentvoice').get('copilot.mode') === 'chatView';
  }

  /** Finds and checks the daemon, and returns its path. */
  async program(): Promise<string> {
    const source = sourceOf(vscode.workspace.getConfiguration('agentvoice').get('daemon.path', ''), this.extension.extensionPath);
    const version = await check(source, t);
    this.log.info(`using the ${source.chosen ? 'chosen' : 'bundled'} daemon ${version.version}`);
    return source.path;
  }

  /** Starts the daemon. */
  private async launch(): Promise<ChildProcessWithoutNullStreams> {
    const path = await this.program();
    const more = vscode.workspace.getConfiguration('agentvoice').get<string[]>('daemon.arguments', []);
    const daemon = spawn(path, ['serve', '--stdio', '--client-process-id', String(process.pid), ...more], { windowsHide: true });
    await new Promise<void>((resolve, reject) => {
      daemon.once('spawn', resolve);
      daemon.once('error', reject);
    });
    return daemon;
  }

  // ---- display

  surroundings(): Surroundings {
    const set = vscode.workspace.getConfiguration('agentvoice');
    const device = (name: string): string => {
      const wanted = set.get(name, 'default');
      return wanted === 'default' || wanted === '' ? t('System default') : nameOf(wanted, this.devices);
    };
    return {
      provider: hears((name) => set.get(name, '')),
      model: this.inChatView() ? t('Chat view') : this.models.model?.name ?? (set.get('copilot.model', '') || 'Copilot'),
      microphone: device('audio.inputDevice'),
      speaker: device('audio.outputDevice'),
      context: this.inChatView() ? [] : this.context.pieces(),
      trusted: vscode.workspace.isTrusted,
      place: placeOfFolders(),
      tones: set.get('cues.enabled', true) && set.get('cues.volume', 0.5) > 0,
      silent: set.get('voice.silent', false),
      agent: this.agent(),
      vendor: this.models.model?.vendor ?? 'copilot',
      found: { ...this.found, ...(isActive(this.conversation.model.snapshot) ? { microphone: true, voice: true } : {}) },
      startKey: process.platform === 'darwin' ? '⌃⌘K' : 'Alt+Shift+K',
      platform: process.platform,
      unsent: this.unsent,
    };
  }

  /** Shows a typed message in the composer again, after it could not be sent. */
  keep(unsent: string): void {
    this.unsent = unsent;
    this.refresh();
  }

  /** Shows a change. The panel comes first: VS Code handles messages in order, and renders the rest in the same thread. */
  private changed(m: Model): void {
    this.shown = undefined;
    this.statusTimer ??= setTimeout(() => this.showStatus(), STATUS_AFTER);
    this.refreshers.forEach((f) => f());
    this.tools.follow(m);
    this.kept.changed(m.lines);
    this.watchScreen(m);
    this.offerHeadless(m);
  }

  /** Shows the state in the status bar and in context keys. */
  private showStatus(): void {
    const m = this.conversation.model;
    const item = statusOf(this.view(), t);
    clearTimeout(this.statusTimer);
    this.statusTimer = undefined;
    this.showItem(item);
    const active = isActive(m.snapshot);
    this.setContext('agentvoice.active', active || m.starting);
    this.setContext('agentvoice.faulted', m.snapshot?.state === 'faulted');
    this.setContext('agentvoice.muted', m.snapshot?.microphone.muted === true);
    this.setContext('agentvoice.wake', m.snapshot?.microphone.wake === true);
    this.setContext('agentvoice.toolPending', m.approval !== undefined);
    this.setContext('agentvoice.canRetry', m.canRetry);
    this.setContext('agentvoice.microphoneElsewhere', m.problem?.code === 'microphoneBusy' || m.problem?.code === 'microphoneTaken');
  }

  /** Updates the status bar only on a change, because VS Code renders the item again at each assignment. */
  private showItem(item: StatusItem): void {
    const shown = JSON.stringify(item);
    if (shown === this.shownItem) {
      return;
    }
    this.shownItem = shown;
    this.status.text = item.text;
    this.status.tooltip = withCommand(item.tooltip, t('Choose Assistant'), 'agentvoice.selectAssistant');
    this.status.accessibilityInformation = { label: item.accessible, role: 'button' };
    this.status.backgroundColor = item.alarm === 'none' ? undefined : new vscode.ThemeColor(`statusBarItem.${item.alarm}Background`);
  }

  private setContext(key: string, value: unknown): void {
    if (this.contextKeys.get(key) !== value) {
      this.contextKeys.set(key, value);
      void vscode.commands.executeCommand('setContext', key, value);
    }
  }

  /** Whether Copilot access is granted. Without it there are no answers; once granted, that problem is resolved. */
  access(allowed: boolean): void {
    if (!allowed) {
      this.conversation.fail({
        code: 'copilotNoConsent',
        message: t('Agent Voice may not use Copilot yet.'),
        remediation: t('Allow it in the editor’s dialog: Copilot can’t answer without it.'),
        retryable: false,
      });
    } else if (this.conversation.model.problem?.code === 'copilotNoConsent') {
      this.conversation.change({ is: 'dismiss' });
    }
  }

  /** The answers from the next turn on are those of the assistant that is chosen now. */
  private nameAssistant(): void {
    this.conversation.change({ is: 'assistant', name: assistantOf(this.surroundings(), t) });
  }

  /** The displayed facts may have changed without a change of the conversation. */
  refresh(): void {
    this.changed(this.conversation.model);
  }

  /** Mutes when the screen locks, because the user has left. Watches while the microphone is open or about to open. */
  private watchScreen(m: Model): void {
    const wanted = mayHear(m) && vscode.workspace.getConfiguration('agentvoice').get('privacy.muteWhenLocked', true);
    if (wanted && this.stopLockWatch === undefined) {
      this.stopLockWatch = watchLock((locked) => {
        if (locked) {
          void this.conversation.muteForLock();
        }
      }, this.log);
    } else if (!wanted && this.stopLockWatch !== undefined) {
      this.stopLockWatch();
      this.stopLockWatch = undefined;
    }
  }

  /** Lets tests advance a daemon with virtual time through a command. */
  private offerHeadless(m: Model): void {
    if (m.capabilities.headless === true && this.headless === undefined) {
      this.headless = vscode.commands.registerCommand('agentvoice.headlessAdvance', (ms: unknown) =>
        this.conversation.ask((wire) => wire.request('headless/advance', { ms: typeof ms === 'number' ? ms : 1000 })));
      this.subscriptions.push(this.headless);
    }
  }

  /** Debounces editor changes, which come in bursts when the user browses files. */
  private offerWordsSoon(): void {
    clearTimeout(this.wordsTimer);
    this.wordsTimer = setTimeout(() => void this.conversation.offerWords(), WORDS_AFTER);
  }

  private watchEditor(): void {
    const refresh = (): void => this.refresh();
    this.subscriptions.push(
      vscode.window.onDidChangeActiveTextEditor(() => {
        refresh();
        this.offerWordsSoon();
      }),
      vscode.window.onDidChangeTextEditorSelection(refresh),
      vscode.languages.onDidChangeDiagnostics(refresh),
      vscode.workspace.onDidChangeWorkspaceFolders(() => {
        void this.conversation.offerWorkspace();
        this.conversation.offerTools();
        refresh();
        this.offerWordsSoon();
      }),
      vscode.workspace.onDidGrantWorkspaceTrust(() => {
        void this.conversation.offerWorkspace();
        this.conversation.offerTools();
        this.offerWordsSoon();
        refresh();
      }),
      vscode.lm.onDidChangeChatModels(() => void this.models.pick(vscode.workspace.getConfiguration('agentvoice').get('copilot.model', ''))),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (!event.affectsConfiguration('agentvoice')) {
          return;
        }
        void this.conversation.configure(changed(event));
        if (event.affectsConfiguration('agentvoice.agent') || event.affectsConfiguration('agentvoice.chat') || event.affectsConfiguration('agentvoice.copilot')) {
          const { assistant: _, ...others } = this.found ?? {}; // another one was checked
          this.found = others;
          this.nameAssistant();
        }
        if (event.affectsConfiguration('agentvoice.context')) {
          this.context.reset();
        }
        if (event.affectsConfiguration('agentvoice.tools') || event.affectsConfiguration('agentvoice.copilot.mode')) {
          this.conversation.offerTools();
        }
        if (event.affectsConfiguration('agentvoice.words')) {
          this.offerWordsSoon();
        }
        if (event.affectsConfiguration('agentvoice.wake')) {
          this.listenForPhrase();
        }
        refresh();
      }),
    );
  }

  // ---- the panel

  connect(view: vscode.WebviewView): void {
    const parts = connect(view, this.feed());
    view.onDidDispose(() => parts.dispose());
  }

  private view(): View {
    const now = (): View => present(this.conversation.model, this.surroundings(), t);
    return this.statusTimer !== undefined ? (this.shown ??= now()) : now();
  }

  private feed(): Feed {
    const shown = shownLines(t);
    return {
      init: () => ({ type: 'init', strings: strings(t), locale: vscode.env.language }),
      view: () => this.view(),
      lines: () => shown(this.conversation.model.lines),
      onChange: (f) => {
        this.refreshers.add(f);
        return () => this.refreshers.delete(f);
      },
      onLevel: (f) => this.conversation.onLevel(({ input, output }) => f(input, output)),
      received: (message) => void this.reported(message.type, () => this.received(message)),
    };
  }

  private async received(message: Exclude<FromPage, { type: 'ready' }>): Promise<void> {
    const { conversation } = this;
    switch (message.type) {
      case 'run':
        if (PANEL_COMMANDS.includes(message.command)) {
          await vscode.commands.executeCommand(message.command);
        }
        break;
      case 'screenReader':
        await this.reader.seen();
        break;
      case 'say':
        await this.run('type', [message.text]);
        break;
      case 'hold':
        await conversation.hold(message.down);
        break;
      case 'approve':
        await conversation.approve(message.approved, message);
        break;
      case 'context':
        this.context.set(message.key, message.on);
        this.refresh();
        break;
      case 'dismiss':
        conversation.change({ is: 'dismiss' });
        break;
      case 'open':
        await this.open(message.file);
        break;
      case 'copy':
        await vscode.env.clipboard.writeText(message.text);
        break;
      case 'insert':
        this.say(await this.insertion.insert(message.text, message.language));
        break;
      case 'undoCorrection':
        await conversation.undoCorrection(message.correction);
        break;
      case 'read':
        await conversation.readAnswer(message.text);
        break;
    }
  }

  /** Opens a file that an answer names, or says that it does not exist. */
  private async open(file: string): Promise<void> {
    const { problem } = await editorCommand({ command: 'openFile', names: [file] }, this.conversation.model);
    if (problem !== undefined) {
      this.say(problem);
    }
  }

  /** Shows a message in the panel. */
  say(message: string): void {
    this.conversation.change({ is: 'notification', params: { message, severity: 'info', kind: 'message' } });
  }

  /** Checks what a conversation needs, without recording. */
  async checkSetup(): Promise<void> {
    const provider = hears((name) => vscode.workspace.getConfiguration('agentvoice').get(name, ''));
    const [found, assistant] = await Promise.all([this.conversation.ask((wire) => wire.request('audio/devices')), this.checkAssistant()]);
    const keyless = !['openai', 'live', 'azure'].includes(provider);
    this.devices = found === undefined ? this.devices : [...found.inputs, ...found.outputs];
    this.found = {
      microphone: found !== undefined && found.inputs.length > 0,
      voice: found !== undefined && found.outputs.length > 0 && (keyless || (await this.keys.has(provider))),
      ...(assistant === undefined ? {} : { assistant }),
    };
    this.refresh();
  }

  /** Whether the assistant that is chosen can answer; undefined for the Chat view, which cannot be checked. */
  private async checkAssistant(): Promise<boolean | undefined> {
    if (this.needsModel()) {
      const model = await this.models.pick(vscode.workspace.getConfiguration('agentvoice').get('copilot.model', ''));
      return model !== undefined && !this.models.refused(model);
    }
    const known = this.agent() === '' ? undefined : await this.conversation.ask((wire) => wire.request('assistant/list', {}));
    const chosen = known?.assistants.find((a) => a.id === known.selected);
    if (chosen === undefined) {
      return undefined;
    }
    const { ready, code, reason, signIn } = (await checked(this, chosen.id, chosen.title)) ?? chosen;
    if (ready === false && code !== undefined) {
      this.conversation.fail({ code, message: `${chosen.title}: ${reason ?? ''}`, remediation: signIn === undefined ? '' : t('To sign in, {0}.', signIn), retryable: true });
    }
    return ready ?? chosen.found;
  }

  /** Whether a language model of the editor answers: not the Chat view, nor a coding agent. */
  needsModel(): boolean {
    return !this.inChatView() && this.agent() === '';
  }

  /** The name of who answers instead of the editor's assistant; empty if that one does. */
  private agent(): string {
    const set = vscode.workspace.getConfiguration('agentvoice');
    return nameOfAgent(set.get('agent', ''), set.get('chat.model', ''), t);
  }

  /** Activation by phrase needs the daemon before a conversation starts. */
  listenForPhrase(): void {
    if (vscode.workspace.getConfiguration('agentvoice').get('wake.enabled', false)) {
      void this.conversation.ask(() => Promise.resolve());
    }
  }

  // ---- commands

  run(name: Command, args: readonly unknown[]): Promise<unknown> {
    return this.reported(name, () => this.actions[name](...args));
  }

  /** Does something for the user, and shows a failure. */
  private async reported(name: string, work: () => unknown): Promise<unknown> {
    try {
      return await work();
    } catch (err) {
      this.log.error(`${name}: ${err instanceof Error ? (err.stack ?? err.message) : String(err)}`);
      this.conversation.fail({
        code: 'unexpected',
        message: t('Something unexpected happened.'),
        remediation: t('Try again. See the log for details.'),
        retryable: true,
      });
      return undefined;
    }
  }

  async participate(request: vscode.ChatRequest, chat: vscode.ChatContext, stream: vscode.ChatResponseStream, token: vscode.CancellationToken): Promise<vscode.ChatResult> {
    if (!(await this.actions.mayAsk(this.agent() === ''))) { // an agent answers in the Chat view, too
      return { errorDetails: { message: this.conversation.model.problem?.message ?? '' } };
    }
    const { conversation, questions, context } = this;
    return participate({ conversation, questions, context, t }, request, chat, stream, token);
  }

  dispose(): void {
    clearTimeout(this.statusTimer);
    clearTimeout(this.wordsTimer);
    this.stopLockWatch?.();
    this.key.release();
    this.models.dispose();
    this.tools.dispose();
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  async close(): Promise<void> {
    this.dispose();
    await Promise.all([this.kept.close(), this.conversation.close()]);
  }
}

/** Whether the user allows the transcript on disk. */
function mayStore(): boolean {
  const set = vscode.workspace.getConfiguration('agentvoice');
  return set.get('privacy.keepTranscript', false) && set.get('privacy.persist', true);
}

/** A tooltip with a link below it. */
function withCommand(text: string, title: string, command: string): vscode.MarkdownString {
  const tooltip = new vscode.MarkdownString();
  tooltip.isTrusted = { enabledCommands: [command] };
  return tooltip.appendText(text).appendMarkdown(`\n\n[${title}](command:${command})`);
}

/** The editor's user settings folder, which contains the extension's storage. */
function userFolder({ globalStorageUri }: vscode.ExtensionContext): string {
  return globalStorageUri.path.split('/').slice(0, -2).join('/');
}

/** Whether the window still responds. An extension host can outlive its window. */
async function windowLives(): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), 3_000);
  });
  const answer = vscode.commands.executeCommand('setContext', 'agentvoice.window', true).then(
    () => true,
    () => false,
  );
  const lives = await Promise.race([answer, late]);
  clearTimeout(timer);
  return lives;
}
