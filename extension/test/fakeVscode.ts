// A fake vscode module with what activation and the language model adapter use. It records
// registrations, and answers as a test configures it.

import { type Stats, lstatSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import Module from 'node:module';
import { join, posix } from 'node:path';
import { english } from '../src/text';

/** The terminal's list of commands that do not go to the shell, whose default the package extends. */
export const SKIPPED = 'terminal.integrated.commandsToSkipShell';
const skipped = (): unknown => (JSON.parse(readFileSync(join(__dirname, '..', '..', 'package.json'), 'utf8')) as { contributes: { configurationDefaults: Record<string, unknown> } }).contributes.configurationDefaults[SKIPPED];

type Handler = (...args: never[]) => unknown;

export interface Fake {
  readonly commands: Map<string, Handler>;
  readonly executed: [command: string, ...args: unknown[]][];
  readonly views: Map<string, unknown>;
  /** Whether the settings file cannot be written. */
  unwritable: boolean;
  readonly participants: string[];
  readonly statusItems: { id: string; name?: string; text?: string; accessibilityInformation?: unknown; shown: boolean }[];
  readonly toasts: string[];
  /** results of commands; undefined by default */
  answers: Map<string, (...args: never[]) => Promise<unknown>>;
  /** the active editor, its diagnostics, and the workspace's name */
  editor: unknown;
  /** the user activates an editor, or another kind of tab */
  activate: (editor: unknown) => void;
  /** the editors in view, and the editor that shows a document */
  visible: unknown[];
  show: (document: unknown) => unknown;
  problems: { severity: number; message: string; range: { start: { line: number } } }[];
  workspaceName: string | undefined;
  /** what the user types into an input box */
  input: string | undefined | ((options: { title?: string; prompt?: string; password?: boolean }) => string | undefined);
  /** what the user selects from a list; nothing by default */
  pick: (items: readonly { readonly label: string }[]) => unknown;
  /** the list that was opened last, and what the user does in it */
  list: FakeList | undefined;
  /** the button that the user presses in a message; by default the message stays open */
  press: (message: string, buttons: readonly string[], detail: string) => string | undefined | 'closed';
  /** the displayed progress, and how the user cancels it */
  readonly progress: { steps: { increment?: number; message?: string }[]; token: TokenSource };
  /** the clipboard */
  copied: string;
  /** pages opened in the browser */
  readonly opened: string[];
  /** files that can be opened, by path */
  readonly documents: Map<string, unknown>;
  /** the editor's Git extension */
  git: unknown;
  readonly settings: Map<string, unknown>;
  /** the available models */
  models: FakeModel[];
  tools: { name: string; description: string; inputSchema?: object; tags?: string[] }[];
  invokeTool: (name: string, options: { input: object }) => Promise<{ content: unknown[] }>;
  /** the tools that the package contributes */
  readonly contributed: Map<string, { invoke: (options: { input: object }, token: unknown) => Promise<unknown> }>;
  trusted: boolean;
  /** the workspace folders, and the files that can be found and read in them, by path */
  folders: Uri[];
  readonly files: Map<string, string>;
  /** applied edits, and displayed diffs and terminals */
  readonly tabs: { label: string; input: unknown }[];
  readonly terminals: { name: string; pty: { onDidWrite(f: (text: string) => void): unknown; open(): void; close(): void }; written: string; typed: string }[];
  tasks: unknown[];
  /** open documents, and a function that opens another one */
  readonly textDocuments: Document[];
  open: (document: Document) => void;
  /** whether files of this machine are read from the disk, through links as the editor does */
  disk: boolean;
  /** paths of other machines that are links, and that are neither files nor folders */
  readonly links: Set<string>;
  readonly pipes: Set<string>;
  /** settings of tasks.json and of terminals that a workspace sets, by section and name */
  readonly ofWorkspace: Map<string, unknown>;
  /** tasks that were run */
  readonly ran: unknown[];
  /** paths of the files that were read */
  readonly read: string[];
  /** registered file systems, by scheme */
  readonly fileSystems: Map<string, FileSystem>;
}

export interface FileSystem {
  stat(uri: Uri): { type: number };
  readFile(uri: Uri): Uint8Array;
  writeFile(uri: Uri, content: Uint8Array): void;
}

export interface FakeModel {
  id: string;
  name: string;
  vendor: string;
  family: string;
  maxInputTokens: number;
  sendRequest: (messages: unknown[], options: Record<string, unknown>, token: { isCancellationRequested: boolean }) => Promise<unknown>;
  countTokens: (text: string) => Promise<number>;
}

const nothing = { dispose: (): void => undefined };
const event = () => nothing;

class Part {
  constructor(readonly value: unknown) {}
}
class TextPart extends Part {}
class PromptPart extends Part {}
class CallPart {
  constructor(readonly callId: string, readonly name: string, readonly input: object) {}
}
class ResultPart {
  constructor(readonly callId: string, readonly content: unknown[]) {}
}

export class Uri {
  constructor(readonly scheme: string, readonly path: string) {}
  get fsPath(): string {
    return this.path;
  }
  toString(): string {
    return `${this.scheme}://${this.path}`;
  }
  static file = (path: string): Uri => new Uri('file', path);
  query = '';
  static parse = (text: string): Uri => new Uri('https', text);
  static from = ({ scheme, path, query }: { scheme: string; path: string; query: string }): Uri => Object.assign(new Uri(scheme, path), { query });
  static joinPath = (base: { path: string; scheme?: string }, ...more: string[]): Uri => new Uri(base.scheme ?? 'file', posix.join(base.path, ...more));
}
export class Location {
  constructor(readonly uri: Uri, readonly range: unknown) {}
}
export class ChatRequestTurn {
  constructor(readonly prompt: string) {}
}
export class ChatResponseMarkdownPart {
  readonly value: { value: string };
  constructor(text: string) {
    this.value = { value: text };
  }
}
export class ChatResponseTurn {
  constructor(readonly response: unknown[]) {}
}

/** Whether a glob of the settings matches a path: supports ** and *. */
function matches(glob: string, path: string): boolean {
  const source = glob.replace(/[.+^${}()|[\]\\]/g, '\\$&').replace(/\*\*\/?|\*/g, (m) => (m === '*' ? '[^/]*' : '.*'));
  return new RegExp(`^${source}$`).test(path);
}

/** A position in a text. */
export class Position {
  constructor(readonly line: number, readonly character: number) {}
}
export class Range {
  readonly start: Position;
  readonly end: Position;
  constructor(...at: unknown[]) {
    const [a, b, c, d] = at;
    this.start = (typeof a === 'number' ? new Position(a, b as number) : a) as Position;
    this.end = (typeof a === 'number' ? new Position(c as number, d as number) : b) as Position;
  }
}

/** A document with a text, which edits change. */
export class Document {
  isDirty = false;
  saved = 0;
  /** whether its file cannot be written */
  unwritable = false;
  readonly eol: number;
  constructor(readonly uri: Uri, private text: string) {
    this.eol = text.includes('\r\n') ? 2 : 1;
  }
  private get lines(): string[] {
    return this.text.split('\n');
  }
  get lineCount(): number {
    return this.lines.length;
  }
  getText(range?: Range): string {
    return range === undefined ? this.text : this.text.slice(this.offsetAt(range.start), this.offsetAt(range.end));
  }
  offsetAt({ line, character }: Position): number {
    return line >= this.lines.length ? this.text.length : this.lines.slice(0, line).reduce((sum, l) => sum + l.length + 1, 0) + character;
  }
  positionAt(offset: number): Position {
    const before = this.text.slice(0, offset).split('\n');
    return new Position(before.length - 1, before.at(-1)?.length ?? 0);
  }
  getWordRangeAtPosition(at: Position): Range | undefined {
    const word = [...(this.lines[at.line] ?? '').matchAll(/\w+/g)].find((m) => m.index <= at.character && at.character <= m.index + m[0].length);
    return word === undefined ? undefined : new Range(new Position(at.line, word.index), new Position(at.line, word.index + word[0].length));
  }
  replace(range: Range, text: string): void {
    this.text = this.text.slice(0, this.offsetAt(range.start)) + text + this.text.slice(this.offsetAt(range.end));
    this.isDirty = true;
  }
  save(): Promise<boolean> {
    if (this.unwritable) {
      return Promise.resolve(false); // as VS Code, which shows the failure in a notification
    }
    this.isDirty = false;
    this.saved++;
    return Promise.resolve(true);
  }
}

/** A document of a file on the disk. Saving it writes to its path, through links. */
class DiskDocument extends Document {
  override save(): Promise<boolean> {
    writeFileSync(this.uri.path, this.getText());
    return super.save();
  }
}

/** The status of a file behind all links; undefined if there is none. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** All files below a folder, through links as a search of the editor finds them. */
function walk(folder: string, depth = 6): string[] {
  return depth === 0 ? [] : readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    const found = statOf(path);
    return found === undefined ? [] : found.isDirectory() ? walk(path, depth - 1) : [path];
  });
}

/** The editor's file types: unknown, file, folder, and a link added to these. */
const TYPES = { Unknown: 0, File: 1, Directory: 2, SymbolicLink: 64 };

export class WorkspaceEdit {
  readonly steps: ((fake: Fake) => void)[] = [];
  readonly texts = new Map<Uri, { range: Range; newText: string }[]>();
  replace(uri: Uri, range: Range, newText: string): void {
    this.texts.set(uri, [...(this.texts.get(uri) ?? []), { range, newText }]);
    this.steps.push((fake) => (fake.documents.get(uri.path) as Document).replace(range, newText));
  }
  createFile(uri: Uri, { contents }: { contents: Uint8Array }): void {
    this.steps.push((fake) => {
      const text = new TextDecoder().decode(contents);
      if (fake.disk) {
        writeFileSync(uri.path, text, { flag: 'wx' });
      }
      fake.documents.set(uri.path, new Document(uri, text));
    });
  }
  deleteFile(uri: Uri): void {
    this.steps.push((fake) => void fake.documents.delete(uri.path));
  }
  entries(): [Uri, { range: Range; newText: string }[]][] {
    return [...this.texts];
  }
}

export class TabInputTextDiff {
  constructor(readonly original: Uri, readonly modified: Uri) {}
}

class Emitter<T> {
  private readonly listeners: ((e: T) => void)[] = [];
  readonly event = (f: (e: T) => void): { dispose(): void } => {
    this.listeners.push(f);
    return nothing;
  };
  fire(e: T): void {
    this.listeners.forEach((f) => f(e));
  }
}

export const parts = { TextPart, CallPart, ResultPart };

/** A cancellation token like the editor's. */
export class TokenSource {
  private readonly listeners = new Set<(e: unknown) => unknown>();
  readonly token = {
    isCancellationRequested: false,
    onCancellationRequested: (f: (e: unknown) => unknown) => {
      this.listeners.add(f);
      return { dispose: () => void this.listeners.delete(f) };
    },
  };
  cancel(): void {
    this.token.isCancellationRequested = true;
    this.listeners.forEach((f) => f(undefined));
  }
  dispose(): void {
    this.listeners.clear();
  }
}

/** A list that stays open while the user moves in it. */
export class FakeList {
  items: readonly { readonly label: string; readonly description?: string; readonly buttons?: readonly object[] }[] = [];
  activeItems: readonly unknown[] = [];
  title = '';
  placeholder = '';
  busy = false;
  readonly active = new Emitter<readonly unknown[]>();
  readonly button = new Emitter<{ item: unknown }>();
  readonly accepted = new Emitter<void>();
  readonly hidden = new Emitter<void>();
  readonly onDidChangeActive = this.active.event;
  readonly onDidTriggerItemButton = this.button.event;
  readonly onDidAccept = this.accepted.event;
  readonly onDidHide = this.hidden.event;
  show(): void {
    this.active.fire(this.activeItems); // as the editor does
  }
  hide(): void {
    this.hidden.fire();
  }
  dispose(): void {
    this.items = [];
  }
  /** The user moves to an item. */
  move(index: number): void {
    this.activeItems = [this.items[index]];
    this.active.fire(this.activeItems);
  }
}

/** Replaces vscode with the fake for all modules loaded from now on. */
export function install(): Fake {
  const fake: Fake = {
    commands: new Map(), executed: [], views: new Map(), unwritable: false, activate: () => undefined, visible: [], show: (document) => ({ document, revealRange: () => undefined, selection: { active: new Position(0, 0) } }), participants: [], statusItems: [], toasts: [], settings: new Map(), copied: '', documents: new Map(), git: undefined, answers: new Map(), input: undefined, opened: [], list: undefined, pick: () => undefined, press: () => undefined, progress: { steps: [], token: new TokenSource() }, editor: undefined, problems: [], workspaceName: undefined,
    models: [], tools: [], invokeTool: () => Promise.reject(new Error('no tool was expected')), contributed: new Map(), trusted: true, folders: [], files: new Map(), tabs: [], terminals: [], tasks: [], textDocuments: [], open: () => undefined, fileSystems: new Map(), disk: false, links: new Set(), pipes: new Set(), ofWorkspace: new Map(), ran: [], read: [],
  };
  const toast = (message: string, ...more: (string | { detail?: string })[]): Promise<string | undefined> => {
    fake.toasts.push(message);
    const options = more.find((m) => typeof m === 'object');
    const pressed = fake.press(message, more.filter((m) => typeof m === 'string'), options?.detail ?? '');
    return pressed === undefined ? new Promise(() => undefined) : Promise.resolve(pressed === 'closed' ? undefined : pressed); // a toast stays until the user closes it
  };
  const openedDocument = new Emitter<Document>();
  const activeEditor = new Emitter<unknown>();
  fake.activate = (editor) => {
    fake.editor = editor;
    activeEditor.fire(editor);
  };
  const endedTask = new Emitter<{ execution: unknown; exitCode: number }>();
  fake.open = (document) => {
    fake.textDocuments.push(document);
    openedDocument.fire(document);
  };
  const message = (role: string) => (content: unknown) => ({ role, content: typeof content === 'string' ? [new TextPart(content)] : content });
  const module = {
    version: '1.104.0',
    env: { appName: 'Test', language: 'en', remoteName: undefined, clipboard: { writeText: (text: string) => Promise.resolve(void (fake.copied = text)) }, openExternal: (uri: Uri) => Promise.resolve(fake.opened.push(uri.path) > 0) },
    l10n: { t: english },
    StatusBarAlignment: { Left: 1, Right: 2 },
    ConfigurationTarget: { Global: 1 },
    QuickPickItemKind: { Separator: -1 },
    MarkdownString: class {
      value = '';
      appendText(text: string) {
        this.value += text;
        return this;
      }
      appendMarkdown(text: string) {
        return this.appendText(text);
      }
    },
    ProgressLocation: { Notification: 15 },
    Position,
    WorkspaceEdit,
    TabInputTextDiff,
    EventEmitter: Emitter,
    EndOfLine: { LF: 1, CRLF: 2 },
    TaskGroup: { Test: { id: 'test' } },
    tasks: {
      fetchTasks: () => Promise.resolve(fake.tasks),
      onDidEndTaskProcess: endedTask.event,
      onDidEndTask: event,
      executeTask: (task: unknown) => {
        const execution = { task, terminate: () => undefined };
        fake.ran.push(task);
        setImmediate(() => endedTask.fire({ execution, exitCode: 0 }));
        return Promise.resolve(execution);
      },
    },
    Selection: class { constructor(readonly anchor: unknown, readonly active: unknown) {} },
    TextEditorRevealType: { InCenterIfOutsideViewport: 2 },
    ViewColumn: { Active: -1 },
    Range,
    ThemeIcon: class { constructor(readonly id: string) {} },
    ThemeColor: class { constructor(readonly id: string) {} },
    Uri,
    Location,
    RelativePattern: class { constructor(readonly base: { uri: Uri }, readonly pattern: string) {} },
    ChatRequestTurn,
    ChatResponseTurn,
    ChatResponseMarkdownPart,
    Disposable: class {
      static from = (...all: { dispose(): void }[]) => ({ dispose: () => all.forEach((d) => d.dispose()) });
      constructor(readonly dispose: () => void) {}
    },
    FileType: TYPES,
    FileSystemError: { FileNotFound: (uri: Uri) => new Error(`${uri.toString()} was not found`), NoPermissions: (uri: Uri) => new Error(`no permission for ${uri.toString()}`) },
    CancellationTokenSource: TokenSource,
    LanguageModelTextPart: TextPart,
    LanguageModelPromptTsxPart: PromptPart,
    LanguageModelToolCallPart: CallPart,
    LanguageModelToolResultPart: ResultPart,
    LanguageModelToolResult: class { constructor(readonly content: unknown[]) {} },
    LanguageModelChatMessage: { User: message('user'), Assistant: message('assistant') },
    window: {
      createOutputChannel: () => ({ info: () => undefined, warn: () => undefined, error: () => undefined, debug: () => undefined, show: () => undefined, ...nothing }),
      createStatusBarItem: (id: string) => {
        const item = { id, shown: false, show: () => void (item.shown = true), ...nothing };
        fake.statusItems.push(item);
        return item;
      },
      registerWebviewViewProvider: (id: string, provider: unknown) => {
        fake.views.set(id, provider);
        return nothing;
      },
      showInformationMessage: toast,
      showWarningMessage: toast,
      showErrorMessage: toast,
      createQuickPick: () => (fake.list = new FakeList()),
      showQuickPick: (items: readonly { readonly label: string }[]) => Promise.resolve(fake.pick(items)),
      withProgress: (_options: unknown, task: (progress: unknown, token: unknown) => unknown) =>
        task({ report: (step: { increment?: number; message?: string }) => void fake.progress.steps.push(step) }, fake.progress.token.token),
      showTextDocument: (document: { uri: Uri }) => {
        fake.executed.push(['show', document.uri.path]);
        fake.editor = fake.show(document);
        return Promise.resolve(fake.editor);
      },
      createTerminal: ({ name, pty }: Fake['terminals'][number]) => {
        const terminal = { name, pty, written: '', typed: '', show: () => undefined, sendText: (text: string) => void (terminal.typed += text) };
        // As in VS Code, what is written before the terminal opens, which takes a while, is lost.
        setImmediate(() => {
          (pty as typeof pty | undefined)?.onDidWrite((text: string) => void (terminal.written += text));
          (pty as typeof pty | undefined)?.open();
        });
        fake.terminals.push(terminal);
        return terminal;
      },
      tabGroups: {
        get all() {
          return [{ tabs: fake.tabs }];
        },
        close: (tabs: unknown[]) => Promise.resolve(void fake.tabs.splice(0, fake.tabs.length, ...fake.tabs.filter((tab) => !tabs.includes(tab)))),
      },
      showInputBox: (options: object) => Promise.resolve(typeof fake.input === 'function' ? fake.input(options) : fake.input),
      get activeTextEditor() {
        return fake.editor;
      },
      get visibleTextEditors() {
        return fake.visible;
      },
      onDidChangeActiveTextEditor: activeEditor.event,
      onDidChangeTextEditorSelection: event,
    },
    workspace: {
      get name() {
        return fake.workspaceName;
      },
      get workspaceFolders() {
        return fake.folders.map((uri) => ({ uri, name: posix.basename(uri.path) }));
      },
      get textDocuments() {
        return fake.textDocuments;
      },
      onDidOpenTextDocument: openedDocument.event,
      registerFileSystemProvider: (scheme: string, provider: FileSystem) => {
        fake.fileSystems.set(scheme, provider);
        return { dispose: () => void fake.fileSystems.delete(scheme) };
      },
      registerTextDocumentContentProvider: () => nothing,
      saveAll: async () => (await Promise.all(fake.textDocuments.filter((d) => d.isDirty).map((d) => d.save()))).every((saved) => saved),
      applyEdit: (edit: WorkspaceEdit) => {
        edit.steps.forEach((step) => step(fake));
        return Promise.resolve(true);
      },
      findFiles: () => Promise.resolve(fake.disk ? fake.folders.flatMap(({ path }) => walk(path)).map(Uri.file) : [...fake.files.keys()].map((path) => new Uri('vscode-remote', path))),
      fs: {
        stat: (uri: Uri) => {
          if (fake.disk && uri.scheme === 'file') {
            const found = statOf(uri.path);
            return found === undefined ? Promise.reject(new Error('no such file'))
              : Promise.resolve({ type: (lstatSync(uri.path).isSymbolicLink() ? TYPES.SymbolicLink : 0) | (found.isFile() ? TYPES.File : found.isDirectory() ? TYPES.Directory : TYPES.Unknown), size: found.size });
          }
          const paths = [...fake.files.keys(), ...fake.documents.keys(), ...fake.links, ...fake.pipes];
          const size = fake.files.get(uri.path)?.length ?? 0;
          const type = fake.pipes.has(uri.path) ? TYPES.Unknown : paths.some((path) => path.startsWith(`${uri.path}/`)) ? TYPES.Directory : TYPES.File;
          return paths.some((path) => path === uri.path || path.startsWith(`${uri.path}/`))
            ? Promise.resolve({ type: type | (fake.links.has(uri.path) ? TYPES.SymbolicLink : 0), size })
            : Promise.reject(new Error('no such file'));
        },
        readFile: (uri: Uri) => {
          fake.read.push(uri.path);
          if (fake.disk && uri.scheme === 'file') {
            return Promise.resolve(readFileSync(uri.path));
          }
          const text = fake.files.get(uri.path);
          return text === undefined ? Promise.reject(new Error('no such file')) : Promise.resolve(new TextEncoder().encode(text));
        },
      },
      getWorkspaceFolder: (uri: Uri) => {
        const folder = [...fake.folders, Uri.file('/w')].find(({ path }) => uri.path.startsWith(`${path}/`));
        return folder === undefined ? undefined : { uri: folder, name: posix.basename(folder.path) };
      },
      openTextDocument: (uri: Uri | { content: string }) => {
        if (!(uri instanceof Uri)) {
          return Promise.resolve(new Document(new Uri('untitled', 'Untitled-1'), uri.content));
        }
        if (fake.disk && uri.scheme === 'file') {
          const open = fake.documents.get(uri.path) as Document | undefined;
          if ((statOf(uri.path)?.size ?? 0) > 50 * 1024 * 1024) {
            return Promise.reject(new Error('Files above 50MB cannot be synchronized with extensions.'));
          }
          if (open?.isDirty !== true) {
            try {
              const text = readFileSync(uri.path, 'utf8');
              if (text.includes('\0')) {
                return Promise.reject(new Error('File seems to be binary and cannot be opened as text'));
              }
              fake.documents.set(uri.path, new DiskDocument(uri, text));
            } catch {
              return Promise.reject(new Error('no such file'));
            }
          }
        }
        const document = fake.documents.get(uri.path);
        return document === undefined ? Promise.reject(new Error('no such file'))
          : document instanceof Document && document.getText().includes('\0') ? Promise.reject(new Error('File seems to be binary and cannot be opened as text'))
          : Promise.resolve(document);
      },
      asRelativePath: (uri: { path: string }) => uri.path.split('/').at(-1),
      get isTrusted() {
        return fake.trusted;
      },
      getConfiguration: (section: string) => ({
        get: (name: string, standard?: unknown) => (fake.settings.has(`${section}.${name}`) ? fake.settings.get(`${section}.${name}`) : `${section}.${name}` === SKIPPED ? skipped() : standard),
        inspect: (name: string) => (fake.ofWorkspace.has(`${section}.${name}`) ? { workspaceFolderValue: fake.ofWorkspace.get(`${section}.${name}`), workspaceValue: fake.ofWorkspace.get(`${section}.${name}`) } : undefined),
        update: (name: string, value: unknown) =>
          fake.unwritable ? Promise.reject(new Error('Unable to write into user settings.')) : Promise.resolve(void (value === undefined ? fake.settings.delete(`${section}.${name}`) : fake.settings.set(`${section}.${name}`, value))),
      }),
      onDidChangeConfiguration: event,
      onDidChangeWorkspaceFolders: event,
      onDidGrantWorkspaceTrust: event,
    },
    languages: {
      getLanguages: () => Promise.resolve(['go']),
      onDidChangeDiagnostics: event,
      getDiagnostics: () => fake.problems,
      match: ({ pattern }: { pattern: string | { base: { uri: Uri }; pattern: string } }, { uri }: { uri: Uri }) =>
        Number(typeof pattern === 'string' ? matches(pattern, uri.path) : matches(pattern.pattern, uri.path.slice(pattern.base.uri.path.length + 1))),
    },
    extensions: { getExtension: (id: string) => (id === 'vscode.git' ? fake.git : undefined) },
    commands: {
      registerCommand: (id: string, handler: Handler) => {
        fake.commands.set(id, handler);
        return nothing;
      },
      executeCommand: (id: string, ...args: unknown[]) => {
        fake.executed.push([id, ...args]);
        return fake.answers.get(id)?.(...(args as never[])) ?? Promise.resolve(undefined);
      },
    },
    chat: {
      createChatParticipant: (id: string) => {
        fake.participants.push(id);
        return nothing;
      },
    },
    lm: {
      selectChatModels: ({ vendor }: { vendor?: string }) => Promise.resolve(fake.models.filter((m) => vendor === undefined || m.vendor === vendor)),
      get tools() {
        return fake.tools;
      },
      registerTool: (name: string, tool: { invoke: (options: { input: object }, token: unknown) => Promise<unknown> }) => {
        fake.contributed.set(name, tool);
        return nothing;
      },
      invokeTool: (name: string, options: { input: object }) => fake.invokeTool(name, options),
      onDidChangeChatModels: event,
    },
  };
  const loader = Module as unknown as { _load: (request: string, ...rest: unknown[]) => unknown };
  const load = loader._load;
  loader._load = (request, ...rest) => (request === 'vscode' ? module : load.call(loader, request, ...rest));
  return fake;
}
