// The open folders, for coding agents: an agent works only in one that is open and trusted.

import * as vscode from 'vscode';
import type { Workspace } from './protocol.gen';

/** The folder of the open file; undefined if no file of a folder is open. */
export function activeFolder(): vscode.WorkspaceFolder | undefined {
  const document = vscode.window.activeTextEditor?.document.uri;
  return document === undefined ? undefined : vscode.workspace.getWorkspaceFolder(document);
}

/**
 * What is open, whatever the other settings say. The paths are those of the machine on which the
 * extension and its daemon run, also in a remote window; folders elsewhere are left out.
 */
export function openFolders(): Workspace {
  const trusted = vscode.workspace.isTrusted;
  const here = (vscode.workspace.workspaceFolders ?? []).filter((f) => f.uri.scheme === 'file');
  const active = activeFolder();
  return {
    folders: here.map((f) => ({ path: f.uri.fsPath, name: f.name, trusted })),
    ...(active !== undefined && here.some((f) => f.uri.fsPath === active.uri.fsPath) ? { active: active.uri.fsPath } : {}),
  };
}
