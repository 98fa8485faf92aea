// The editor's side of the wire: messages by name, with the types that are
// generated from the daemon's.

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

/** The params of a message: left out where there are none, or where they may be left out. */
type Params<P> = undefined extends P ? [params?: P] : [params: P];

/** Writer ends the connection where its pipe is broken: who waits for an answer is told then. */
class Writer extends StreamMessageWriter {
  constructor(pipe: NodeJS.WritableStream, private readonly broken: () => void) {
    super(pipe);
  }

  override async write(message: Message): Promise<void> {
    try {
      await super.write(message);
    } catch {
      this.broken(); // a request whose write fails would be rejected twice, and once with nobody to catch it
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

  /** Messages are taken from here on; the handlers must be set before. */
  listen(): void {
    this.connection.listen();
  }

  /** Asks the daemon. A refusal is a ResponseError whose data has code, remediation and retryable. */
  async request<M extends keyof ClientRequests>(
    method: M,
    ...params: Params<ClientRequests[M]['params']>
  ): Promise<ClientRequests[M]['result']> {
    return params[0] === undefined
      ? this.connection.sendRequest(method)
      : this.connection.sendRequest(method, params[0]);
  }

  /** Tells the daemon. */
  async notify<M extends keyof ClientNotifications>(method: M, ...params: Params<ClientNotifications[M]>): Promise<void> {
    return params[0] === undefined
      ? this.connection.sendNotification(method)
      : this.connection.sendNotification(method, params[0]);
  }

  /** Has f told of what the daemon publishes. */
  on<M extends keyof DaemonNotifications>(method: M, f: (params: DaemonNotifications[M]) => void): Disposable {
    return this.connection.onNotification(method, f);
  }

  /** Has f answer what the daemon asks. */
  answer<M extends keyof DaemonRequests>(
    method: M,
    f: (params: DaemonRequests[M]['params'], token: CancellationToken) => Promise<DaemonRequests[M]['result']>,
  ): Disposable {
    return this.connection.onRequest(method, f);
  }

  /** Has f told of messages that could not be read or written. */
  onError(f: (err: Error) => void): Disposable {
    return this.connection.onError(([err]) => f(err));
  }

  /** Has f told that the daemon closed the connection. */
  onClose(f: () => void): Disposable {
    return this.connection.onClose(f);
  }

  dispose(): void {
    this.connection.dispose();
  }
}
