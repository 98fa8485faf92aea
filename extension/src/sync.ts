// Keeps the window's model in step with the daemon: applies its notifications, and requests what they do not carry.

import type { Clock, Log } from './daemon/sidecar';
import type { Change, Model } from './model';
import { hasContinued } from './transcript';
import type { Wire } from './wire';

/** ModelSync applies the notifications of one daemon to the model. */
export class ModelSync {
  private fetched = 0;
  private rebuilding = false;

  constructor(
    private readonly wire: Wire,
    private readonly model: () => Model,
    private readonly change: (change: Change) => void,
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /** Handles the daemon's notifications. */
  listen(): void {
    const { wire } = this;
    wire.on('agentvoice.state', (params) => this.change({ is: 'state', params }));
    wire.on('agentvoice.turn', (params) => {
      this.change({ is: 'turn', params });
      if (params.event !== 'turn-started' && params.role === 'assistant') {
        void this.fetchHeard();
      }
    });
    wire.on('agentvoice.transcript', (params) => {
      if (!hasContinued(this.model(), params)) {
        void this.rebuild();
        return;
      }
      this.change({ is: 'transcript', params, at: this.clock.now() });
      const state = this.model().snapshot?.state;
      if (params.role === 'user' && params.final && state !== 'listening' && state !== 'idle') {
        void this.fetchState(); // queued; no transition reports that
      }
    });
    wire.on('agentvoice.caption', (params) => this.change({ is: 'caption', params }));
    wire.on('agentvoice.tool', (params) => this.change({ is: 'tool', params, at: this.clock.now() }));
    wire.on('agentvoice.paused', (params) => this.change({ is: 'paused', params }));
    wire.on('agentvoice.queue', (params) => this.change({ is: 'queue', params }));
    wire.on('agentvoice.session', (params) => this.change({ is: 'session', params }));
    wire.on('agentvoice.notification', (params) => {
      this.change({ is: 'notification', params });
      if (params.kind === 'resync') {
        void this.rebuild();
      }
    });
    wire.on('agentvoice.microphone', (params) => this.change({ is: 'microphone', params }));
    wire.on('agentvoice.error', (params) => {
      this.log.warn(`the daemon reports ${params.code}`);
      this.change({ is: 'error', params });
    });
  }

  private async fetchState(): Promise<void> {
    try {
      this.change({ is: 'snapshot', snapshot: await this.wire.request('conversation/state') });
    } catch {
      // the next transition reports it
    }
  }

  /** After missed notifications, rebuilds the transcript and requests from the daemon's state. */
  private async rebuild(): Promise<void> {
    if (this.rebuilding) {
      return; // a pending request is newer than what was missed
    }
    this.rebuilding = true;
    try {
      const transcript = await this.wire.request('conversation/transcript', {});
      this.change({ is: 'rebuilt', transcript, at: this.clock.now() });
    } catch {
      // the daemon exited, and a new one has nothing to rebuild
    } finally {
      this.rebuilding = false;
    }
  }

  /** The daemon reports how much of the answers was heard only on request. */
  private async fetchHeard(): Promise<void> {
    const generation = ++this.fetched;
    try {
      const { entries } = await this.wire.request('conversation/transcript', {});
      if (generation === this.fetched) {
        this.change({ is: 'heard', entries });
      }
    } catch {
      // the transcript stays without the marks
    }
  }
}
