// The tools that the assistant may call: those that the user listed. Listing a tool does not approve its
// calls: the user decides about each.

import type { ToolSpec } from '../protocol.gen';

/** Tool is the editor's description of a tool. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema?: object | undefined;
  readonly tags?: readonly string[];
}

/** The tools that this package contributes for other agents; its own model speaks without them. */
export const ALOUD: ReadonlySet<string> = new Set(['agentvoice_say', 'agentvoice_ask']);

/** Whether a list contains a tool. A name may end with * as a wildcard. */
export function listed(name: string, list: readonly string[]): boolean {
  return list.some((entry) => {
    const wanted = entry.trim();
    return wanted.endsWith('*') ? wanted !== '' && name.startsWith(wanted.slice(0, -1)) : name === wanted;
  });
}

/** The tools that may be called. Tools that are not known to be harmless count as destructive. */
export function offered(tools: readonly Tool[], allowed: readonly string[], harmless: readonly string[], confirms: (tool: Tool) => boolean): ToolSpec[] {
  return tools
    .filter((t) => listed(t.name, allowed) && !ALOUD.has(t.name))
    .map((t) => ({
      name: t.name,
      description: t.description,
      ...(t.inputSchema === undefined ? {} : { inputSchema: t.inputSchema }),
      destructive: !listed(t.name, harmless),
      ...(confirms(t) ? { confirms: true } : {}),
    }));
}
