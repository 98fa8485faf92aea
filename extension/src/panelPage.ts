// The page of the view in the side bar. It holds its script and its style: VS Code would fetch each of them through
// the window, which delays the first label.

import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type * as vscode from 'vscode';

/**
 * The page. Its content security policy allows this script and this style only. The script must not contain
 * "</script", nor the style "</style"; esbuild escapes both. "<!--", which begins a comment in HTML, is escaped here.
 */
export function html(nonce: string, script: string, style: string): string {
  const policy = `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Agent Voice</title>
<style nonce="${nonce}">${style}</style>
</head>
<body>
<script nonce="${nonce}">${script.replaceAll('<!--', '\\x3C!--')}</script>
</body>
</html>
`;
}

/** Loads the page in the view. Until it reports that it is ready, it shows nothing. */
export function load({ webview }: vscode.WebviewView, extensionPath: string): void {
  const part = (name: string): string => readFileSync(join(extensionPath, 'dist', name), 'utf8');
  webview.options = { enableScripts: true, localResourceRoots: [] };
  webview.html = html(randomBytes(16).toString('base64'), part('panel.js'), part('panel.css'));
}
