// The panel's icons: the editor's codicons, bundled as SVG, in the colour of the adjacent text.

import arrowDown from '@vscode/codicons/src/icons/arrow-down.svg';
import check from '@vscode/codicons/src/icons/check.svg';
import chevronDown from '@vscode/codicons/src/icons/chevron-down.svg';
import circle from '@vscode/codicons/src/icons/circle.svg';
import close from '@vscode/codicons/src/icons/close.svg';
import cloud from '@vscode/codicons/src/icons/cloud.svg';
import copy from '@vscode/codicons/src/icons/copy.svg';
import debugPause from '@vscode/codicons/src/icons/debug-pause.svg';
import error from '@vscode/codicons/src/icons/error.svg';
import file from '@vscode/codicons/src/icons/file.svg';
import folder from '@vscode/codicons/src/icons/folder.svg';
import insert from '@vscode/codicons/src/icons/insert.svg';
import listSelection from '@vscode/codicons/src/icons/list-selection.svg';
import mic from '@vscode/codicons/src/icons/mic.svg';
import play from '@vscode/codicons/src/icons/play.svg';
import refresh from '@vscode/codicons/src/icons/refresh.svg';
import send from '@vscode/codicons/src/icons/send.svg';
import sparkle from '@vscode/codicons/src/icons/sparkle.svg';
import stop from '@vscode/codicons/src/icons/primitive-square.svg';
import tools from '@vscode/codicons/src/icons/tools.svg';
import unmute from '@vscode/codicons/src/icons/unmute.svg';
import warning from '@vscode/codicons/src/icons/warning.svg';
import type { Picture } from './dom';

/** Codicons have no muted microphone; the style strikes the icon through. */
const SVG: Readonly<Record<string, string>> = {
  mic, stop, retry: refresh, end: close, send, close, warning, copy, insert, check, circle,
  'mic-off': mic, pause: debugPause, play, 'speaker-off': debugPause, speaker: unmute,
  down: arrowDown, more: chevronDown, tool: tools, missing: error,
  activeFile: file, selection: listSelection, diagnostics: warning, workspaceName: folder, cloud, spark: sparkle,
};

const parsed = new Map<string, Element>();

/** An icon, hidden from screen readers. */
export function icon(name: string): Picture {
  return { key: `icon ${name}`, make: () => picture(name) };
}

function picture(name: string): Element {
  let svg = parsed.get(name);
  if (svg === undefined) {
    svg = new DOMParser().parseFromString(SVG[name] ?? circle, 'image/svg+xml').documentElement;
    svg.setAttribute('class', 'icon');
    svg.setAttribute('aria-hidden', 'true');
    svg.setAttribute('focusable', 'false');
    parsed.set(name, svg);
  }
  return document.importNode(svg, true);
}
