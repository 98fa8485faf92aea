// The window's conversation: starts the daemon, keeps the model, and performs the user's actions. It is
// independent of VS Code, so that its tests run without an editor.

import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import type { AnswerStream, Assistant } from './copilot/assistant';
import { type Event, type Log, Sidecar, refusal, realClock, type Clock } from './daemon/sidecar';
import { type Change, type Model, START, isActive, reduce } from './model';
import type { Problem } from './problem';
import type {
  EditorCommandParams,
  EditorCommandResult,
  ErrorCode,
  Configuration,
  CopilotSendParams,
  CredentialsParams,
  CredentialsResult,
  InterruptSource,
  LevelParams,
  MuteReason,
  Workspace,
  WorkspaceWordsParams,
  ToolParams,
} from './protocol.gen';
import { mayOpen } from './remedies';
import { ModelSync } from './sync';
import type { Translate } from './text';
import type { Wire } from './wire';

/** World is what a conversation needs from its environment. */
export interface World {
  launch(): Promise<ChildProcessWithoutNullStreams>;
  configuration(): Configuration;
  readonly locale: string;
  readonly client: { readonly name: string; readonly version: string };
  readonly assistant: Assistant;
  secret(params: CredentialsParams): Promise<CredentialsResult>;
  openExternal(url: string): Promise<void>;
  /** Runs a voice command in the editor. */
  command(params: EditorCommandParams): Promise<EditorCommandResult>;
  windowLives(): Promise<boolean>;
  /** The workspace's names that the user may say. */
  words?(): Promise<WorkspaceWordsParams>;
  /** the open folders, in one of which a coding agent may work */
  workspace?(): Workspace;
  /** Who muted the microphone when this window was last open. */
  readonly muted?: MuteReason | undefined;
  /** Saves that for the next time the window opens. */
  keepMuted?(by: MuteReason | undefined): void;
  readonly log: Log;
  readonly t: Translate;
  readonly clock?: Clock;
}

/** An action at the wrong moment; nothing failed. */
const MISPLACED: ReadonlySet<string> = new Set(['invalidState', 'nothingToRetry', 'textEmpty', 'noConversation', 'queueFull']);

export class Conversation {
  private now: Model = START;
  private readonly sidecar: Sidecar;
  /** The user requested the help page, which is about to open. */
  private helpWanted = false;
  private readonly listeners = new Set<(model: Model) => void>();
  private readonly levels = new Set<(level: LevelParams) => void>();
  private readonly questions = new Set<(params: CopilotSendParams) => void>();
  /** the user wants a conversation: restart it after the daemon restarts */
  private wanted = false;
  private takeOver = false;
  /**
   * Who wants the microphone muted. The next daemon starts with this setting. It is never
   * displayed: the panel shows the daemon's snapshot.
   */
  private mutedBy: MuteReason | undefined;
  /** Settings that changed since the last greeting, while no daemon was connected. */
  private missed: Configuration = {};
  private readonly clock: Clock;

  constructor(private readonly world: World) {
    this.clock = world.clock ?? realClock;
    this.mutedBy = world.muted;
    this.sidecar = new Sidecar(
      {
        launch: () => world.launch(),
        greeting: () => {
          this.missed = {};
          return {
            processId: process.pid,
            clientInfo: world.client,
            locale: world.locale,
            configuration: world.configuration(),
            ...(world.workspace === undefined ? {} : { workspace: world.workspace() }),
            capabilities: { copilot: true, secrets: true, tools: true, commands: true, heartbeat: true, transcriptAppend: true },
            ...(this.mutedBy === undefined ? {} : { microphone: { muted: true, by: this.mutedBy } }),
          };
        },
        wired: (wire) => this.wired(wire),
        windowLives: () => world.windowLives(),
        clock: this.clock,
        log: world.log,
        t: world.t,
      },
      (event) => this.happened(event),
    );
  }

  get model(): Model {
    return this.now;
  }

  /** The wire to a running daemon. */
  get wire(): Wire | undefined {
    return this.sidecar.wire;
  }

  get daemonPid(): number | undefined {
    return this.sidecar.pid;
  }

  /** Calls f on every change; the result unsubscribes. */
  onChange(f: (model: Model) => void): () => void {
    this.listeners.add(f);
    return () => this.listeners.delete(f);
  }

  /** Calls f with both voices' levels. */
  onLevel(f: (level: LevelParams) => void): () => void {
    this.levels.add(f);
    return () => this.levels.delete(f);
  }

  /** Calls f for every attempt that the assistant should answer. */
  onQuestion(f: (params: CopilotSendParams) => void): () => void {
    this.questions.add(f);
    return () => this.questions.delete(f);
  }

  change(change: Change): void {
    this.now = reduce(this.now, change);
    for (const f of this.listeners) {
      f(this.now);
    }
  }

  private synced(change: Change): void {
    if (change.is === 'state' && change.params.state === 'idle') {
      this.wanted = false; // the daemon ended it
    }
    this.change(change);
  }

  private wishMuted(by: MuteReason | undefined): void {
    if (this.mutedBy !== by) {
      this.mutedBy = by;
      this.world.keepMuted?.(by);
    }
  }

  /** Shows a failure. */
  fail(problem: Omit<Problem, 'then'>): void {
    this.change({ is: 'problem', problem });
  }

  // ---- the daemon

  private happened(event: Event): void {
    const { t } = this.world;
    switch (event.is) {
      case 'starting':
        this.change({ is: 'daemon', phase: 'starting', restarts: 0 });
        break;
      case 'restarting':
        this.change({ is: 'daemon', phase: 'restarting', restarts: event.restart });
        break;
      case 'stopped':
        this.change({ is: 'daemon', phase: 'off' });
        break;
      case 'failed':
        this.wanted = false;
        this.change({ is: 'daemon', phase: 'failed' });
        this.fail(event.problem);
        break;
      case 'running':
        this.change({
          is: 'attached',
          snapshot: event.result.snapshot,
          capabilities: event.result.capabilities,
          at: this.clock.now(),
          ...(event.again ? { divider: t('Agent Voice was restarted. This is a new conversation; the assistant does not remember the one above.') } : {}),
        });
        this.world.assistant.forget();
        void this.resume(event.again);
    }
  }

  /** The daemon is running: applies pending requests, and restarts the conversation after a crash. */
  private async resume(again: boolean): Promise<void> {
    try {
      await this.configure(this.missed);
      if (again && this.wanted) {
        await this.begin();
      } else {
        await this.assertMuted();
      }
    } catch (err) {
      this.refused(err);
    }
  }

  private wired(wire: Wire): void {
    const { world } = this;
    new ModelSync(wire, () => this.now, (change) => this.synced(change), this.clock, world.log).listen();
    wire.on('agentvoice.level', (params) => this.levels.forEach((f) => f(params)));
    wire.answer('copilot/send', (params, token) => {
      let seq = 0;
      const out: AnswerStream = {
        text: (text) => void wire.notify('copilot/delta', { requestId: params.requestId, seq: seq++, text }).catch(() => undefined),
        call: (callId, name, input, destructive, allowed) => {
          const call = { requestId: params.requestId, callId, name, input, ...(destructive === undefined ? {} : { destructive }), ...(allowed === true ? { allowed } : {}) };
          void wire.notify('copilot/toolCall', call).catch(() => undefined);
        },
      };
      this.questions.forEach((f) => f(params));
      return world.assistant.send(params, out, token);
    });
    wire.answer('copilot/invokeTool', (params, token) => world.assistant.invoke(params, token, (certain) =>
      void wire.notify('copilot/toolConfirming', { callId: params.callId, certain }).catch(() => undefined)));
    wire.answer('credentials/get', (params) => world.secret(params));
    wire.answer('window/command', (params) => world.command(params));
    wire.answer('window/openExternal', async ({ url }) => {
      if (!this.helpWanted || !mayOpen(url)) {
        throw new Error('pages are opened only when the user asks for one, and over https');
      }
      await world.openExternal(url);
      return null;
    });
  }

  // ---- what the user asks for

  /** Starts the daemon if necessary; returns undefined after reporting why it cannot start. */
  private async daemon(): Promise<Wire | undefined> {
    try {
      const wire = await this.sidecar.start();
      return wire;
    } catch {
      return undefined;
    }
  }

  /** Starts a conversation. Each press starts an attempt, so that a hanging start can be retried. */
  async start(takeOver = false): Promise<boolean> {
    if (isActive(this.now.snapshot)) {
      return true;
    }
    if (this.mutedBy === 'typed') {
      await this.mute(false); // pressing Start implies that the user wants to be heard
    }
    return this.launch(takeOver);
  }

  private async launch(takeOver: boolean): Promise<boolean> {
    this.wanted = true;
    this.takeOver = takeOver;
    this.change({ is: 'starting', starting: true });
    const wire = await this.daemon();
    if (wire === undefined) {
      if (this.now.daemon === 'failed') {
        this.change({ is: 'starting', starting: false });
      }
      return false;
    }
    if (!this.wanted) {
      return false; // cancelled before it started
    }
    try {
      await this.begin();
      return true;
    } catch (err) {
      this.wanted = false;
      this.refused(err);
      return false;
    }
  }

  private async begin(): Promise<void> {
    const wire = this.sidecar.wire;
    if (wire === undefined) {
      return;
    }
    if (!(await this.assertMuted())) {
      this.change({ is: 'starting', starting: false });
      return; // a muted user is not heard
    }
    this.offerTools();
    void this.offerWords();
    const takeOver = this.takeOver;
    this.takeOver = false;
    await this.offerWorkspace(); // the active folder may be another one now
    const snapshot = await wire.request('conversation/start', takeOver ? { takeOver } : {});
    this.change({ is: 'snapshot', snapshot });
  }

  async end(): Promise<void> {
    this.wanted = false;
    this.change({ is: 'starting', starting: false });
    if (this.sidecar.wire === undefined) {
      return; // there is nothing to end
    }
    await this.ask(async (wire) => this.change({ is: 'snapshot', snapshot: await wire.request('conversation/end', { reason: 'user-stop' }) }));
  }

  async interrupt(source: InterruptSource): Promise<void> {
    await this.ask(async (wire) => this.change({ is: 'snapshot', snapshot: await wire.request('conversation/interrupt', { source }) }));
  }

  /** Pauses or resumes the conversation. */
  async togglePause(): Promise<void> {
    const paused = this.now.snapshot?.paused.conversation === true;
    await this.ask(async (wire) => {
      const snapshot = await wire.request(paused ? 'conversation/resume' : 'conversation/suspend', { reason: 'user' });
      this.change({ is: 'snapshot', snapshot });
    });
  }

  /** Pauses or resumes the assistant's voice. */
  async toggleSpeech(): Promise<void> {
    const paused = this.now.snapshot?.paused.voice === true;
    await this.ask(async (wire) => {
      await wire.request('conversation/playback', { action: paused ? 'continue' : 'pause' });
    });
  }

  /**
   * Mutes or unmutes the microphone. The setting persists: if no daemon runs, the next one
   * starts with it.
   */
  async mute(muted: boolean, by: MuteReason = 'user'): Promise<void> {
    this.wishMuted(muted ? by : undefined);
    await this.assertMuted();
  }

  async toggleMute(): Promise<void> {
    if ((await this.daemon()) !== undefined) {
      await this.mute(this.now.snapshot?.microphone.muted !== true);
    }
  }

  /** Mutes because the screen was locked. An earlier reason takes precedence. */
  async muteForLock(): Promise<void> {
    if (this.mutedBy === undefined) {
      await this.mute(true, 'locked');
    }
  }

  /** Applies the mute setting to the daemon; false if it refused. A daemon that is not running yet gets it with initialize. */
  private async assertMuted(): Promise<boolean> {
    const wire = this.sidecar.wire;
    const mic = this.now.snapshot?.microphone;
    const by = this.mutedBy;
    if (wire === undefined || mic === undefined || mic.mutedBy === by) {
      return true;
    }
    try {
      await wire.request('audio/mute', by === undefined ? { muted: false } : { muted: true, by });
      return true;
    } catch (err) {
      if (refusal(err) !== undefined) {
        this.wishMuted(mic.mutedBy);
      }
      this.refused(err);
      return false;
    }
  }

  async hold(down: boolean): Promise<void> {
    if (down === this.now.held || !isActive(this.now.snapshot)) {
      return;
    }
    this.change({ is: 'held', held: down });
    await this.ask((wire) => wire.request('conversation/pushToTalk', { down }), () => this.change({ is: 'held', held: false }));
  }

  async sendNow(): Promise<void> {
    await this.ask(async (wire) => this.change({ is: 'snapshot', snapshot: await wire.request('conversation/commitTurn') }));
  }

  /** Submits a typed message; returns its turn id, empty while it is queued, or undefined if it was refused. */
  async say(text: string): Promise<string | undefined> {
    if (!(await this.converse())) {
      return undefined;
    }
    return this.ask(async (wire) => (await wire.request('conversation/sendText', { text })).turnId);
  }

  /** Whether all queued messages were sent; false if the conversation failed or ended before, which drops them. */
  async unqueued(): Promise<boolean> {
    const snapshot = await this.ask((wire) => wire.request('conversation/state')); // the queue may be reported after the reply
    if (snapshot !== undefined) {
      this.change({ is: 'snapshot', snapshot });
    }
    const waits = (s: Model['snapshot']): boolean => isActive(s) && s?.queue.count !== 0;
    return isActive((await this.until((m) => m.daemon !== 'running' || !waits(m.snapshot))).snapshot);
  }

  /** Reads a text aloud; returns its turn id, or undefined if it was refused. */
  async read(text: string): Promise<string | undefined> {
    return (await this.converse()) ? this.ask(async (wire) => (await wire.request('conversation/speak', { text, source: 'selection' })).turnId) : undefined;
  }

  /** Reads an answer again from a position. Interrupts the current speech. */
  async readAnswer(text: string): Promise<void> {
    if (text.trim() === '' || !(await this.converse())) {
      return;
    }
    const free = (s: Model['snapshot']): boolean => s?.state === 'listening' || !isActive(s);
    if (!free(this.now.snapshot)) {
      await this.interrupt('command');
    }
    if (await this.reached(free)) {
      await this.ask((wire) => wire.request('conversation/speak', { text, source: 'answer' }));
    }
  }

  /**
   * Ensures a conversation for input that is not spoken: typed words, or a text to read. A
   * conversation started for that does not listen, because the user did not ask for it.
   */
  private async converse(): Promise<boolean> {
    if (isActive(this.now.snapshot)) {
      return true;
    }
    if ((await this.daemon()) === undefined) {
      return false;
    }
    if (this.mutedBy === undefined) {
      await this.mute(true, 'typed');
    }
    return this.now.snapshot?.microphone.muted === true && (await this.launch(false)) && (await this.reached(isActive));
  }

  /** Waits until the snapshot satisfies a condition or no longer can. */
  private async reached(holds: (s: Model['snapshot']) => boolean): Promise<boolean> {
    return holds((await this.until((m) => m.daemon !== 'running' || m.problem !== undefined || holds(m.snapshot))).snapshot);
  }

  /** Waits until the model satisfies a condition, and returns it. */
  private until(holds: (m: Model) => boolean): Promise<Model> {
    return new Promise((resolve) => {
      if (holds(this.now)) {
        resolve(this.now);
        return;
      }
      const stop = this.onChange((m) => {
        if (holds(m)) {
          stop();
          resolve(m);
        }
      });
    });
  }

  async repeat(): Promise<void> {
    await this.ask((wire) => wire.request('conversation/playback', { action: 'repeat' }));
  }

  async retry(): Promise<void> {
    await this.ask(async (wire) => this.change({ is: 'snapshot', snapshot: await wire.request('conversation/retry', {}) }));
  }

  async undoCorrection(correction: string): Promise<void> {
    await this.ask((wire) => wire.request('conversation/undoCorrection', { correction }));
  }

  /** Allows or refuses the call that was shown: by default, the one that is shown now. */
  async approve(approved: boolean, shown: Pick<ToolParams, 'callId' | 'hash'> | undefined = this.now.approval): Promise<void> {
    if (shown !== undefined) {
      const { callId, hash } = shown;
      await this.ask((wire) => wire.request('copilot/approveTool', { callId, approved, ...(hash === undefined ? {} : { hash }) }));
    }
  }

  /**
   * Sends changed settings; those that change while the daemon starts are sent after its
   * greeting. The daemon reports those that it rejects.
   */
  async configure(configuration: Configuration): Promise<void> {
    const wire = this.sidecar.wire;
    if (wire === undefined) {
      this.missed = { ...this.missed, ...configuration };
    } else if (Object.keys(configuration).length > 0) {
      await wire.request('configuration/update', configuration).catch((err: unknown) => this.refused(err));
    }
  }

  offerTools(): void {
    void this.sidecar.wire?.notify('copilot/tools', { tools: this.world.assistant.tools() }).catch(() => undefined);
  }

  /** Tells the daemon which folders are open and trusted, and which one is active. */
  async offerWorkspace(): Promise<void> {
    if (this.world.workspace !== undefined) {
      await this.sidecar.wire?.request('workspace/update', this.world.workspace()).catch((err: unknown) => this.refused(err));
    }
  }

  /** Sends the workspace's current names to the daemon. */
  async offerWords(): Promise<void> {
    const wire = this.sidecar.wire;
    if (wire === undefined || this.world.words === undefined) {
      return;
    }
    try {
      await wire.notify('workspace/words', await this.world.words());
    } catch {
      // names are optional
    }
  }

  /** Opens the help page of the failure that is shown. */
  async openHelp(): Promise<void> {
    const code = this.now.problem?.code;
    if (code === undefined || this.now.problem?.hasHelp !== true) {
      return;
    }
    this.helpWanted = true;
    try {
      await this.ask((wire) => wire.request('window/openHelp', { code: code as ErrorCode }));
    } finally {
      this.helpWanted = false;
    }
  }

  /** Sends a request, starting the daemon if necessary. Shows a refusal. */
  async ask<R>(f: (wire: Wire) => Promise<R>, otherwise?: () => void): Promise<R | undefined> {
    const wire = await this.daemon();
    if (wire === undefined) {
      otherwise?.();
      return undefined;
    }
    try {
      return await f(wire);
    } catch (err) {
      otherwise?.();
      this.refused(err);
      return undefined;
    }
  }

  private refused(err: unknown): void {
    const known = refusal(err);
    if (known !== undefined) {
      if (MISPLACED.has(known.code)) {
        this.change({ is: 'notification', params: { message: `${known.message} ${known.remediation}`, severity: 'info', kind: 'message' } });
      } else if (known.code !== 'requestCancelled' && known.code !== 'conversationActive') {
        this.world.log.warn(`the daemon refused: ${known.code}`);
        this.fail(known);
      } else {
        this.change({ is: 'starting', starting: false });
      }
      return;
    }
    // The process died during a request: its exit event reports that.
    this.world.log.warn(`a request had no answer: ${err instanceof Error ? err.message : String(err)}`);
    if (this.now.daemon === 'running') {
      const { t } = this.world;
      this.fail({ code: 'unexpected', message: t('Agent Voice did not answer.'), remediation: t('Try again. See the log for details.'), retryable: true });
    }
  }

  /** Restarts the daemon. */
  async restart(): Promise<void> {
    const again = this.wanted;
    await this.sidecar.stop();
    this.wanted = again;
    this.change({ is: 'dismiss' });
    if (again) {
      await this.start();
    } else {
      await this.daemon();
    }
  }

  /** Stops the daemon. */
  async close(): Promise<void> {
    this.wanted = false;
    await this.sidecar.stop();
  }
}
