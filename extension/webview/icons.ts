// The panel's pictures, in the manner of the editor's: 16 by 16, in the colour of
// the text beside them.

import type { Picture } from './dom';

const PATHS = {
  mic: '<rect x="5.75" y="1.5" width="4.5" height="8" rx="2.25"/><path d="M3.5 7.5a4.5 4.5 0 0 0 9 0M8 12v2.5M5.75 14.5h4.5"/>',
  'mic-off': '<path d="M5.75 5.5V3.75a2.25 2.25 0 0 1 4.5 0V7M3.5 7.5a4.5 4.5 0 0 0 7.4 3.45M12.5 7.5c0 .6-.1 1.2-.33 1.7M8 12v2.5M5.75 14.5h4.5M2 2l12 12"/>',
  stop: '<rect x="4" y="4" width="8" height="8" rx="1"/>',
  pause: '<path d="M5.5 3.5v9M10.5 3.5v9"/>',
  play: '<path d="M5 3.2v9.6l7.5-4.8z"/>',
  retry: '<path d="M13 8a5 5 0 1 1-1.5-3.55M13 2v3h-3"/>',
  end: '<path d="M4 4l8 8M12 4l-8 8"/>',
  send: '<path d="M2.5 2.5l11 5.5-11 5.5 1.6-5.5zM4.1 8H9"/>',
  close: '<path d="M4 4l8 8M12 4l-8 8"/>',
  down: '<path d="M8 3v9.5M4 8.5l4 4 4-4"/>',
  tool: '<path d="M10.4 2.2a3.6 3.6 0 0 0-4.2 4.7L2.3 10.8a1.6 1.6 0 0 0 2.3 2.3l3.9-3.9a3.6 3.6 0 0 0 4.7-4.2L11 7.2 8.8 6.6 8.2 4.4z"/>',
  speaker: '<path d="M2.5 6v4h2.6L8.5 13V3L5.1 6zM10.8 5.6a3.3 3.3 0 0 1 0 4.8M12.6 3.8a6 6 0 0 1 0 8.4"/>',
  'speaker-off': '<path d="M2.5 6v4h2.6L8.5 13V3L5.1 6zM11 6.2l3.6 3.6M14.6 6.2L11 9.8"/>',
  warning: '<path d="M8 2.2l6.2 11.3H1.8zM8 6.5v3.2M8 11.4v.4"/>',
  activeFile: '<path d="M3.5 1.5h6l3 3v10h-9zM9.5 1.5v3h3"/>',
  selection: '<path d="M2.5 4.5h11M2.5 8h7M2.5 11.5h9"/>',
  diagnostics: '<circle cx="8" cy="8" r="5.8"/><path d="M8 4.8v3.8M8 10.8v.4"/>',
  workspaceName: '<path d="M1.8 3.5h4.4l1.4 1.7h6.6v7.8H1.8z"/>',
  cloud: '<path d="M4.6 12.5a3 3 0 0 1-.3-6 4 4 0 0 1 7.6.9 2.6 2.6 0 0 1 0 5.1z"/>',
  spark: '<path d="M8 1.8l1.5 4.7L14.2 8l-4.7 1.5L8 14.2 6.5 9.5 1.8 8l4.7-1.5z"/>',
} as const;

export type Icon = keyof typeof PATHS;

/** A picture; it says nothing to a screen reader. */
export function icon(name: string): Picture {
  return { key: `icon ${name}`, make: () => svg(name) };
}

function svg(name: string): SVGSVGElement {
  const node = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  node.setAttribute('viewBox', '0 0 16 16');
  node.setAttribute('class', 'icon');
  node.setAttribute('aria-hidden', 'true');
  node.setAttribute('focusable', 'false');
  node.innerHTML = PATHS[name as Icon] ?? '';
  return node;
}
