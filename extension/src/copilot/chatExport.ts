// Reads the Chat view with VS Code's command "Export Chat". Given a path, the command opens no dialog (since
// VS Code 1.104). The path is in an in-memory file system, so that no words of a chat reach the disk.

import * as vscode from 'vscode';

const EXPORT = 'workbench.action.chat.export';
const SCHEME = 'agentvoice-chat';
/** Timeout of an export, in milliseconds. */
const LATE = 5_000;

/** How the Chat view reports the end of a request, if it does. */
export interface Ended {
  /** "confirmation" if the view asks the user before it continues */
  readonly type?: string;
  readonly errorDetails?: { readonly message?: string; readonly responseIsFiltered?: boolean; readonly isQuotaExceeded?: boolean };
}

/** A request of a chat, with its answer so far. */
export interface ChatRequest {
  readonly id: string;
  readonly prompt: string;
  /** the answer's text, in Markdown */
  readonly text: string;
  /** whether the answer ran tools or changed files */
  readonly acted: boolean;
  /** the command that awaits the user's approval */
  readonly command: string | undefined;
  /** time spent waiting for the user, in milliseconds; it grows during the wait */
  readonly waited: number;
  /** end time, in milliseconds since the epoch; for an active request, the time of the export */
  readonly endedAt: number | undefined;
  readonly stopped: boolean;
  readonly result: Ended | undefined;
}

/** Whether a request has ended, judging from two successive exports. */
export function isOver(request: ChatRequest, before: ChatRequest | undefined): boolean {
  return request.result !== undefined || (request.endedAt !== undefined && request.endedAt === before?.endedAt);
}

export class ChatExport implements vscode.Disposable {
  private readonly memory = new Memory();
  private registered: vscode.Disposable | undefined;

  /** The requests of the most recently focused chat, oldest first; undefined if it cannot be read. */
  async read(): Promise<ChatRequest[] | undefined> {
    this.registered ??= vscode.workspace.registerFileSystemProvider(SCHEME, this.memory, { isCaseSensitive: true });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise((resolve) => {
      timer = setTimeout(resolve, LATE);
    });
    try {
      const written = vscode.commands.executeCommand(EXPORT, vscode.Uri.from({ scheme: SCHEME, path: '/chat.json' }));
      await Promise.race([written, late]);
      return parse(this.memory.take());
    } catch {
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  }

  dispose(): void {
    this.registered?.dispose();
  }
}

/** A single file that is kept until it is read. */
class Memory implements vscode.FileSystemProvider {
  private content: Uint8Array | undefined;
  readonly onDidChangeFile: vscode.Event<vscode.FileChangeEvent[]> = () => new vscode.Disposable(() => undefined);

  take(): string | undefined {
    const text = this.content === undefined ? undefined : new TextDecoder().decode(this.content);
    this.content = undefined;
    return text;
  }

  writeFile(_uri: vscode.Uri, content: Uint8Array): void {
    this.content = content;
  }

  stat(uri: vscode.Uri): vscode.FileStat {
    if (uri.path !== '/' && this.content === undefined) {
      throw vscode.FileSystemError.FileNotFound(uri);
    }
    return { type: uri.path === '/' ? vscode.FileType.Directory : vscode.FileType.File, ctime: 0, mtime: 0, size: this.content?.length ?? 0 };
  }

  readFile(uri: vscode.Uri): Uint8Array {
    throw vscode.FileSystemError.NoPermissions(uri); // chats are private to this extension
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }

  createDirectory(): void {}
  delete(): void {}
  rename(): void {}
}

/** The used fields of VS Code's export (IExportableChatData in chatModel.ts). */
interface Exported {
  readonly requests?: readonly {
    readonly requestId?: string;
    readonly message?: { readonly text?: string };
    readonly response?: readonly Part[];
    readonly modelState?: { readonly value?: number; readonly completedAt?: number };
    readonly timeSpentWaiting?: number;
    readonly result?: Ended;
  }[];
}

/** A part of an answer; Markdown parts have a value and no kind. */
interface Part {
  readonly kind?: string;
  readonly value?: unknown;
  readonly content?: { readonly value?: unknown };
  readonly name?: string;
  readonly inlineReference?: { readonly path?: string; readonly name?: string; readonly uri?: { readonly path?: string } };
  readonly isConfirmed?: unknown;
  readonly toolSpecificData?: { readonly kind?: string; readonly commandLine?: { readonly original?: string; readonly userEdited?: string; readonly toolEdited?: string } };
}

/** ResponseModelState.Cancelled in chatModel.ts; active requests are exported with it, too. */
const CANCELLED = 2;
/** Kinds of parts after which the answer starts a new paragraph. */
const ACTS: ReadonlySet<string | undefined> = new Set(['toolInvocationSerialized', 'textEditGroup', 'notebookEditGroup']);

function parse(text: string | undefined): ChatRequest[] | undefined {
  if (text === undefined) {
    return undefined;
  }
  const { requests } = JSON.parse(text) as Exported;
  return requests?.map(({ requestId, message, response = [], modelState, timeSpentWaiting, result }) => {
    const waiting = response.find((p) => p.kind === 'toolInvocationSerialized' && p.isConfirmed === undefined);
    const line = waiting?.toolSpecificData?.kind === 'terminal' ? waiting.toolSpecificData.commandLine : undefined;
    return {
      id: requestId ?? '',
      prompt: message?.text ?? '',
      text: words(response),
      acted: response.some((p) => ACTS.has(p.kind)),
      command: line?.userEdited ?? line?.toolEdited ?? line?.original,
      waited: timeSpentWaiting ?? 0,
      endedAt: modelState?.completedAt,
      stopped: modelState?.value === CANCELLED,
      result,
    };
  });
}

/** The words of an answer: its Markdown, and the names of its references. */
function words(parts: readonly Part[]): string {
  let out = '';
  for (const part of parts) {
    if (ACTS.has(part.kind)) {
      out += out === '' || out.endsWith('\n') ? '' : '\n\n';
    } else {
      out += wordsOf(part);
    }
  }
  return out;
}

function wordsOf({ kind, value, content, name, inlineReference }: Part): string {
  switch (kind) {
    case undefined:
      return typeof value === 'string' ? value : '';
    case 'markdownVuln':
      return typeof content?.value === 'string' ? content.value : '';
    case 'inlineReference': {
      const path = inlineReference?.path ?? inlineReference?.uri?.path;
      return `\`${name ?? inlineReference?.name ?? path?.split('/').at(-1) ?? ''}\``;
    }
    default:
      return '';
  }
}
