// The open folders, for coding agents: an agent works only in one that is open and trusted.

import * as vscode from 'vscode';
import type { Workspace } from './protocol.gen';

/** The open folders of this machine, where commands can run. */
export function localFolders(): vscode.WorkspaceFolder[] {
  return (vscode.workspace.workspaceFolders ?? []).filter((f) => f.uri.scheme === 'file');
}

/** Where the open folders are: at least one on this machine, all on another one, or none open. */
export function placeOfFolders(): 'here' | 'remote' | 'none' {
  return localFolders().length > 0 ? 'here' : (vscode.workspace.workspaceFolders ?? []).length > 0 ? 'remote' : 'none';
}

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
  const here = localFolders();
  const active = activeFolder();
  return {
    folders: here.map((f) => ({ path: f.uri.fsPath, name: f.name, trusted })),
    ...(active !== undefined && here.some((f) => f.uri.fsPath === active.uri.fsPath) ? { active: active.uri.fsPath } : {}),
  };
}
