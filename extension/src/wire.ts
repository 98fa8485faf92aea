// The editor's side of the wire: messages by name, with types generated from the daemon's.

import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import {
  type CancellationToken,
  type Disposable,
  type Message,
  type MessageConnection,
  StreamMessageReader,
  StreamMessageWriter,
  createMessageConnection,
} from 'vscode-jsonrpc/node';
import type { ClientNotifications, ClientRequests, DaemonNotifications, DaemonRequests } from './protocol.gen';

/** The params of a message: omitted if it has none, optional if they are optional. */
type Params<P> = undefined extends P ? [params?: P] : [params: P];

/** Writer closes the connection when its pipe breaks, which rejects pending requests. */
class Writer extends StreamMessageWriter {
  constructor(pipe: NodeJS.WritableStream, private readonly broken: () => void) {
    super(pipe);
  }

  override async write(message: Message): Promise<void> {
    try {
      await super.write(message);
    } catch {
      this.broken(); // rethrowing would reject the request twice, the second time unhandled
    }
  }
}

/** Wire is a connection to a daemon that was started with `serve --stdio`. */
export class Wire implements Disposable {
  private readonly connection: MessageConnection;

  constructor(daemon: ChildProcessWithoutNullStreams) {
    this.connection = createMessageConnection(
      new StreamMessageReader(daemon.stdout),
      new Writer(daemon.stdin, () => this.dispose()),
    );
  }

  /** Starts reading messages. Set the handlers first. */
  listen(): void {
    this.connection.listen();
  }

  /** Sends a request. A refusal is a ResponseError whose data has code, remediation and retryable. */
  async request<M extends keyof ClientRequests>(
    method: M,
    ...params: Params<ClientRequests[M]['params']>
  ): Promise<ClientRequests[M]['result']> {
    return params[0] === undefined
      ? this.connection.sendRequest(method)
      : this.connection.sendRequest(method, params[0]);
  }

  /** Sends a notification. */
  async notify<M extends keyof ClientNotifications>(method: M, ...params: Params<ClientNotifications[M]>): Promise<void> {
    return params[0] === undefined
      ? this.connection.sendNotification(method)
      : this.connection.sendNotification(method, params[0]);
  }

  /** Calls f for each such notification of the daemon. */
  on<M extends keyof DaemonNotifications>(method: M, f: (params: DaemonNotifications[M]) => void): Disposable {
    return this.connection.onNotification(method, f);
  }

  /** Answers the daemon's requests with f. */
  answer<M extends keyof DaemonRequests>(
    method: M,
    f: (params: DaemonRequests[M]['params'], token: CancellationToken) => Promise<DaemonRequests[M]['result']>,
  ): Disposable {
    return this.connection.onRequest(method, f);
  }

  /** Calls f for messages that could not be read or written. */
  onError(f: (err: Error) => void): Disposable {
    return this.connection.onError(([err]) => f(err));
  }

  /** Calls f when the daemon closes the connection. */
  onClose(f: () => void): Disposable {
    return this.connection.onClose(f);
  }

  dispose(): void {
    this.connection.dispose();
  }
}
