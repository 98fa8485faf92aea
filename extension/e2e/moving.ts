// A moving picture of a page: what a user would see, with long waits shortened.

import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CDPSession, Page } from 'playwright-core';

/** How long a frame stays at most, in milliseconds. */
const LONGEST = 1_500;
/** How long the last frame stays, in milliseconds. */
const LAST = 3_000;

interface Frame {
  readonly file: string;
  /** In milliseconds. */
  readonly at: number;
}

/** A recording of a page, from start to save. The browser sends a frame whenever the page has changed. */
export class Moving {
  private readonly frames: Frame[] = [];
  private readonly session: CDPSession;
  private readonly dir: string;

  private constructor(session: CDPSession, dir: string) {
    this.session = session;
    this.dir = dir;
  }

  /** Starts a recording, with its frames in dir. */
  static async start(page: Page, dir: string): Promise<Moving> {
    mkdirSync(dir, { recursive: true });
    const session = await page.context().newCDPSession(page);
    const moving = new Moving(session, dir);
    session.on('Page.screencastFrame', ({ data, metadata, sessionId }) => {
      const file = join(dir, `${String(moving.frames.length).padStart(5, '0')}.png`);
      writeFileSync(file, data, 'base64');
      moving.frames.push({ file, at: 1000 * (metadata.timestamp ?? 0) });
      void session.send('Page.screencastFrameAck', { sessionId }).catch(() => undefined); // the page is gone
    });
    await session.send('Page.startScreencast', { format: 'png' });
    return moving;
  }

  /** Ends the recording and writes it as an animated WebP file. */
  async save(file: string): Promise<void> {
    await this.session.send('Page.stopScreencast');
    await this.session.detach();
    const parts = this.frames.flatMap(({ file: frame, at }, i) => {
      const next = this.frames[i + 1]?.at;
      const stays = next === undefined ? LAST : Math.min(LONGEST, next - at);
      return stays < 1 ? [] : ['-d', String(Math.round(stays)), frame];
    });
    execFileSync('img2webp', ['-loop', '0', '-lossy', '-q', '70', '-m', '4', ...parts, '-o', file], { stdio: 'ignore' });
    rmSync(this.dir, { recursive: true });
  }
}
