// Chooses who answers: a language model of the editor, a coding agent, a chat endpoint, or the offline
// assistant. Each choice is tried before it is used.

import * as vscode from 'vscode';
import type { Conversation } from './conversation';
import type { LanguageModels } from './copilot/languageModels';
import type { Keys } from './secrets';
import { isActive } from './model';
import { AGENTS, type Assistant, type AssistantsResult } from './protocol.gen';
import type { Translate } from './text';

const t = vscode.l10n.t;

/** The address that is suggested for a chat endpoint: Ollama's. */
const SUGGESTED = 'http://127.0.0.1:11434/v1';

/** What the choice needs of the window. */
export interface Chooser {
  readonly conversation: Conversation;
  readonly models: LanguageModels;
  readonly keys: Keys;
  access(allowed: boolean): void;
  refresh(): void;
}

/** Model is a language model of the editor. */
export interface EditorModel {
  readonly id: string;
  readonly name: string;
  readonly vendor: string;
  /** the user refused to let the extension use it */
  readonly refused: boolean;
}

/** Choice is what a row stands for. */
type Choice =
  | { readonly is: 'model'; readonly id: string | undefined }
  | { readonly is: 'assistant'; readonly of: Assistant }
  | { readonly is: 'install'; readonly of: Assistant }
  | { readonly is: 'endpoint' }
  | { readonly is: 'copilot' };

/** Row is an entry of the list; without a choice it is the title of a group. */
export interface Row {
  readonly label: string;
  readonly description?: string;
  readonly detail?: string;
  readonly choice?: Choice;
}

/** The display name of agentvoice.agent; empty for the editor's assistant. */
export function nameOfAgent(agent: string, chatModel: string, t: Translate): string {
  const [, model] = /^openai(?::(.*))?$/.exec(agent) ?? [];
  if (agent === 'openai' || model !== undefined) {
    return model ?? (chatModel || t('Chat endpoint'));
  }
  const command = agent.replace(/^acp:/, '').trim();
  return command === 'offline' ? t('Offline') : AGENTS[command] ?? command.split(/\s/)[0]?.split(/[\\/]/).at(-1) ?? '';
}

/** The list: what can answer comes first: the editor's models, or the coding agents where it has none. */
export function rowsOf(known: AssistantsResult, models: readonly EditorModel[], model: string, t: Translate): Row[] {
  const { assistants, selected } = known;
  const row = (chosen: boolean, { label, ...rest }: Row): Row => ({ label: chosen ? `$(check) ${label}` : label, ...rest });
  const group = (label: string, rows: readonly Row[]): Row[] => (rows.length === 0 ? [] : [{ label }, ...rows]);
  const agents = assistants.filter((a) => a.id.startsWith('acp:'));
  const copilot = assistants.some((a) => a.id === 'copilot');
  const editor = !copilot || models.length === 0 ? [] : [
    row(selected === 'copilot' && model === '', { label: t('The editor’s choice'), description: models[0]?.name ?? '', choice: { is: 'model', id: undefined } }),
    ...models.map((m) => row(selected === 'copilot' && model === m.id, {
      label: m.name, description: m.refused ? t('{0}; you did not allow it', m.vendor) : m.vendor, choice: { is: 'model', id: m.id },
    })),
  ];
  const found = agents.filter((a) => a.found).map((a) => row(a.id === selected, {
    label: a.title, description: stateOf(a, t), ...(a.where === undefined ? {} : { detail: a.where }), choice: { is: 'assistant', of: a },
  }));
  const chat = assistants.filter((a) => a.id.startsWith('openai:') && a.found).map((a) => row(a.id === selected, {
    label: a.title, description: a.where ?? '', detail: stateOf(a, t), choice: { is: 'assistant', of: a },
  }));
  const offline = assistants.filter((a) => a.id === 'offline').map((a) => row(a.id === selected, {
    label: t('Offline'), description: t('answers simple questions about the folder, without any service'), choice: { is: 'assistant', of: a },
  }));
  const missing = agents.filter((a) => !a.found).map((a): Row => ({ label: a.title, description: a.install ?? a.page ?? '', choice: { is: 'install', of: a } }));
  return [
    ...group(t('Language models of the editor'), editor),
    ...group(t('Coding agents on this machine'), found),
    ...group(t('Chat endpoint'), [...chat, { label: `$(add) ${t('Use a chat endpoint…')}`, description: t('address, model and key'), choice: { is: 'endpoint' } }]),
    ...group(t('Without a service'), offline),
    ...group(t('Not installed'), [
      ...(copilot && models.length === 0 ? [{ label: 'GitHub Copilot', description: t('there is no language model in this editor'), choice: { is: 'copilot' } } as Row] : []),
      ...missing,
    ]),
  ];
}

/** What is known of an assistant that is found. */
function stateOf(a: Assistant, t: Translate): string {
  return a.ready === true ? t('ready') : a.ready === false ? (a.reason ?? '') : a.id.startsWith('acp:') ? t('installed; its sign-in is checked when you choose it') : t('checked when you choose it');
}

/** Lets the user choose who answers; returns whether someone was chosen. */
export async function chooseAssistant(w: Chooser, why = ''): Promise<boolean> {
  const [known, models, now] = await Promise.all([
    w.conversation.ask((wire) => wire.request('assistant/list', {})),
    w.models.models(),
    w.conversation.ask((wire) => wire.request('copilot/models')),
  ]);
  if (known === undefined) {
    return false; // the problem is shown
  }
  const offered = models.map((m) => ({ id: m.id, name: m.name, vendor: `${m.vendor} ${m.id}`, refused: w.models.refused(m) }));
  const items = rowsOf(known, offered, now?.selected ?? '', t).map((row) => (row.choice === undefined ? { ...row, kind: vscode.QuickPickItemKind.Separator } : row));
  const picked = await vscode.window.showQuickPick(items, {
    title: t('Choose Assistant'), placeHolder: why === '' ? t('It answers from your next message on.') : why, matchOnDescription: true,
  });
  const choice = picked?.choice;
  switch (choice?.is) {
    case 'model':
      return chooseModel(w, choice.id, known.selected !== 'copilot');
    case 'assistant':
      return tried(w, choice.of.id, choice.of);
    case 'endpoint':
      return chooseEndpoint(w);
    case 'install':
      await howToInstall(choice.of);
      return false;
    case 'copilot':
      await vscode.commands.executeCommand('agentvoice.installCopilot');
      return false;
    case undefined:
      return false;
  }
}

/** Selects a language model. In a conversation the editor asks for consent now, since the next message is sent to it. */
async function chooseModel(w: Chooser, id: string | undefined, another: boolean): Promise<boolean> {
  if (another && isActive(w.conversation.model.snapshot) && (await w.models.consent(id)) === 'refused') {
    w.access(false);
    return false;
  }
  if ((another && !(await select(w, 'copilot'))) || (await w.conversation.ask((wire) => wire.request('copilot/selectModel', { id: id ?? '' }))) === undefined) {
    return false; // refused; the problem is shown
  }
  await vscode.workspace.getConfiguration('agentvoice').update('copilot.model', id, vscode.ConfigurationTarget.Global);
  await w.models.pick(id ?? '');
  return true;
}

/** Selects an assistant, and saves the choice for later windows. */
async function select(w: Chooser, id: string): Promise<boolean> {
  if ((await w.conversation.ask((wire) => wire.request('assistant/select', { id }))) === undefined) {
    return false; // refused; the problem is shown
  }
  await vscode.workspace.getConfiguration('agentvoice').update('agent', id === 'copilot' ? undefined : id, vscode.ConfigurationTarget.Global);
  if (/^copilot|^agent/.test(w.conversation.model.problem?.code ?? '')) {
    w.conversation.change({ is: 'dismiss' });
  }
  w.refresh();
  return true;
}

/** Checks an assistant and selects it, or says what is missing. */
async function tried(w: Chooser, id: string, { title, signIn }: Pick<Assistant, 'title' | 'signIn'>): Promise<boolean> {
  const found = id === 'offline' ? undefined : await checked(w, id, title);
  if (id !== 'offline' && found === undefined) {
    return false; // the problem is shown
  }
  if (found?.ready !== false) {
    return select(w, id);
  }
  const anyway = t('Use anyway');
  const terminal = t('Open terminal');
  const key = t('Enter key');
  const trust = t('Manage trust');
  const other = t('Choose another');
  const command = found.code === 'agentSignIn' ? /`([^`]+)`/.exec(signIn ?? '')?.[1] : undefined;
  const endpoint = id.startsWith('openai:');
  const buttons = [
    ...(command === undefined ? [] : [terminal]),
    ...(endpoint && found.code === 'authentication' ? [key] : []),
    ...(found.code === 'noTrustedFolder' ? [trust] : []),
    ...(found.code === 'agentMissing' || found.code === 'noTrustedFolder' ? [] : [anyway]),
    other,
  ];
  const how = command === undefined ? '' : ` ${t('To sign in, {0}.', signIn ?? '')}`;
  switch (await vscode.window.showWarningMessage(`${title}: ${found.reason ?? ''}${how}`, ...buttons)) {
    case anyway:
      return select(w, id);
    case terminal:
      typed(title, command ?? '');
      return false;
    case key:
      return (await w.keys.askForChat(address())) && tried(w, id, { title });
    case trust:
      await vscode.commands.executeCommand('agentvoice.manageTrust');
      return false;
    case other:
      return chooseAssistant(w);
    default:
      return false;
  }
}

/** The assistant with the outcome of its check; undefined if that is not known. */
export async function checked(w: Chooser, id: string, title: string): Promise<Assistant | undefined> {
  const options = { location: vscode.ProgressLocation.Notification, title: t('Checking {0}', title) };
  const known = await vscode.window.withProgress(options, () => w.conversation.ask((wire) => wire.request('assistant/list', { check: id })));
  return known?.assistants.find((a) => a.id === id);
}

const address = (): string => vscode.workspace.getConfiguration('agentvoice').get('chat.endpoint', '');

/** Asks for address, model and key of a chat endpoint, and selects it. */
async function chooseEndpoint(w: Chooser): Promise<boolean> {
  const set = vscode.workspace.getConfiguration('agentvoice');
  const title = t('Chat endpoint');
  const endpoint = await vscode.window.showInputBox({
    title, prompt: t('Address of an OpenAI-compatible endpoint. What you say, and the answers, are sent there.'), value: address() === '' ? SUGGESTED : address(), ignoreFocusOut: true,
    validateInput: (text) => (isAddress(text) ? undefined : t('Enter an http or https URL without a user name.')),
  });
  const model = endpoint === undefined ? undefined : await vscode.window.showInputBox({
    title, prompt: t('Model, as the endpoint names it'), value: set.get('chat.model', ''), ignoreFocusOut: true,
    validateInput: (text) => (text.trim() === '' ? t('Enter the name of a model.') : undefined),
  });
  if (endpoint === undefined || model === undefined || !isAddress(endpoint) || model.trim() === '' || !(await w.keys.askForChat(endpoint.trim()))) {
    return false;
  }
  const chat = { endpoint: endpoint.trim(), model: model.trim() };
  await set.update('chat.endpoint', chat.endpoint, vscode.ConfigurationTarget.Global);
  await set.update('chat.model', chat.model, vscode.ConfigurationTarget.Global);
  await w.conversation.configure({ 'agentvoice.chat.endpoint': chat.endpoint, 'agentvoice.chat.model': chat.model }); // before the check
  return tried(w, `openai:${chat.model}`, { title: chat.model });
}

function isAddress(text: string): boolean {
  try {
    const { protocol, username, password } = new URL(text.trim());
    return /^https?:$/.test(protocol) && username === '' && password === '';
  } catch {
    return false;
  }
}

/** Says how to install an agent; runs nothing. */
async function howToInstall({ title, install, page }: Assistant): Promise<void> {
  const terminal = t('Open terminal');
  const site = t('Open page');
  const how = install === undefined ? t('{0} is not installed. Its page says how to install it.', title) : t('{0} is not installed. To install it, run: {1}', title, install);
  const pressed = await vscode.window.showInformationMessage(how, ...(install === undefined ? [] : [terminal]), ...(page === undefined ? [] : [site]));
  if (pressed === terminal && install !== undefined) {
    typed(title, install);
  } else if (pressed === site && page !== undefined) {
    await vscode.env.openExternal(vscode.Uri.parse(page, true));
  }
}

/** Types a command in a terminal. The user runs it. */
function typed(name: string, command: string): void {
  const terminal = vscode.window.createTerminal({ name });
  terminal.show();
  terminal.sendText(command, false);
}
