// The daemon's settings, as the user set them.

import * as vscode from 'vscode';
import { type Configuration, SETTINGS } from './protocol.gen';

const section = 'agentvoice';

/** All that are not at their default. */
export function configuration(): Configuration {
  return read((name) => {
    const value = vscode.workspace.getConfiguration(section).get<unknown>(name);
    const standard = vscode.workspace.getConfiguration(section).inspect<unknown>(name)?.defaultValue;
    return value === standard ? undefined : value;
  });
}

/** Those that a change touched; null is the default. */
export function changed(event: vscode.ConfigurationChangeEvent): Configuration {
  return read((name) => {
    if (!event.affectsConfiguration(`${section}.${name}`)) {
      return undefined;
    }
    return vscode.workspace.getConfiguration(section).get<unknown>(name) ?? null;
  });
}

function read(value: (name: string) => unknown): Configuration {
  const out: Record<string, unknown> = {};
  for (const { name } of SETTINGS) {
    const v = value(name.slice(section.length + 1));
    if (v !== undefined) {
      out[name] = v;
    }
  }
  return out as Configuration;
}
