// A live level meter of a voice.

import { el } from './dom';

/** Number of levels shown, newest last. */
const BARS = 24;

export class Wave {
  readonly element = el('div', { class: 'wave', 'aria-hidden': 'true', 'data-testid': 'level' });
  private readonly bars: HTMLElement[] = [];
  private readonly levels = new Array<number>(BARS).fill(0);

  constructor() {
    for (let i = 0; i < BARS; i++) {
      const bar = el('i');
      this.bars.push(bar);
      this.element.append(bar);
    }
  }

  /** Adds a level, as a fraction of full scale. */
  add(level: number): void {
    this.levels.push(loudness(level));
    this.levels.shift();
    this.draw();
  }

  clear(): void {
    if (this.levels.some((l) => l > 0)) {
      this.levels.fill(0);
      this.draw();
    }
  }

  private draw(): void {
    this.levels.forEach((level, i) => this.bars[i]?.style.setProperty('--level', level.toFixed(2)));
  }
}

/** Maps -54 dBFS and below to 0, and -6 dBFS to 1. */
export function loudness(level: number): number {
  return level <= 0 ? 0 : Math.min(1, Math.max(0, (20 * Math.log10(level) + 54) / 48));
}
