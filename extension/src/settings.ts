// The daemon's settings with the user's values.

import * as vscode from 'vscode';
import { type Configuration, SETTINGS } from './protocol.gen';

const section = 'agentvoice';

/** All settings that differ from their default. */
export function configuration(): Configuration {
  return read((name) => {
    const value = vscode.workspace.getConfiguration(section).get<unknown>(name);
    const standard = vscode.workspace.getConfiguration(section).inspect<unknown>(name)?.defaultValue;
    return value === standard ? undefined : value;
  });
}

/** The settings affected by a change; null means the default. */
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
