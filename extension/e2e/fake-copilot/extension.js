// A stand-in for GitHub Copilot: a language model that answers from a script, and
// a tool that says what it was asked to run. See README.md for the files it works
// with, and ../copilot.ts for their form.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const vscode = require('vscode');

const folder = process.env['AGENTVOICE_E2E_COPILOT'];

/** Appends a line to the record. One write a line, so that a reader never sees half of one that ends in a newline. */
function record(kind, fields) {
  fs.appendFileSync(path.join(folder, 'record.jsonl'), JSON.stringify({ kind, at: Date.now(), ...fields }) + '\n');
}

/** The script as it is now: each request reads it anew. */
function script() {
  return JSON.parse(fs.readFileSync(path.join(folder, 'script.json'), 'utf8'));
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits for the time and the gate of a part; false where nobody wants it any more. */
async function due(part, token) {
  if (part.afterMs) {
    await pause(part.afterMs);
  }
  while (part.gate !== undefined && !token.isCancellationRequested && !fs.existsSync(path.join(folder, `gate-${part.gate}`))) {
    await pause(10);
  }
  return !token.isCancellationRequested;
}

function words(message) {
  return message.content.map((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : '')).join('');
}

/** A message as the record keeps it: who, the words, and what became of tools. */
function plain(message) {
  const calls = message.content.filter((p) => p instanceof vscode.LanguageModelToolCallPart);
  const results = message.content.filter((p) => p instanceof vscode.LanguageModelToolResultPart);
  return {
    role: message.role === vscode.LanguageModelChatMessageRole.User ? 'user' : 'assistant',
    text: words(message),
    ...(calls.length ? { calls: calls.map((c) => ({ callId: c.callId, name: c.name, input: c.input })) } : {}),
    ...(results.length
      ? { results: results.map((r) => ({ callId: r.callId, text: r.content.map((c) => c.value ?? '').join('') })) }
      : {}),
  };
}

function failure(code) {
  switch (code) {
    case 'quota':
      return vscode.LanguageModelError.Blocked('You have exceeded your premium request allowance (quota).');
    case 'notFound':
      return vscode.LanguageModelError.NotFound('The model is gone.');
    case 'noPermissions':
      return vscode.LanguageModelError.NoPermissions('Not allowed.');
    default:
      return new Error(`scripted failure: ${code}`);
  }
}

/** The first reply whose `when` is in the last message of the user; one without `when` is for everything. */
function replyTo(messages) {
  const last = messages.at(-1);
  const results = last.content.some((p) => p instanceof vscode.LanguageModelToolResultPart);
  const { text: said, results: outcomes = [] } = plain(last);
  const text = [said, ...outcomes.map((r) => r.text)].join('\n').toLowerCase();
  return script().replies.find(
    (r) => (r.afterTool === true) === results && (r.when === undefined || text.includes(r.when.toLowerCase())),
  );
}

let requests = 0;

const provider = {
  async provideLanguageModelChatInformation() {
    const { models } = script();
    return models.map((id) => ({
      id,
      name: `Test model (${id})`,
      family: id,
      version: '1',
      maxInputTokens: 8000,
      maxOutputTokens: 1000,
      // Has the editor ask the user before an extension may use the model.
      requiresAuthorization: { label: 'fake-user' },
      isUserSelectable: true,
      capabilities: { toolCalling: true, imageInput: false },
    }));
  },
  async provideLanguageModelChatResponse(model, messages, options, progress, token) {
    const id = ++requests;
    record('request', {
      id,
      model: model.id,
      tools: (options.tools ?? []).map((t) => t.name),
      messages: messages.map(plain),
    });
    const reply = replyTo(messages);
    token.onCancellationRequested(() => record('cancelled', { id }));
    let calls = 0;
    for (const part of reply?.parts ?? []) {
      if (!(await due(part, token))) {
        return;
      }
      if (part.fail !== undefined) {
        record('failed', { id, code: part.fail });
        throw failure(part.fail);
      }
      if (part.tool !== undefined) {
        progress.report(new vscode.LanguageModelToolCallPart(`fake-${id}-${++calls}`, part.tool, part.input));
        continue;
      }
      if (part.text === undefined) {
        continue;
      }
      record('delta', { id, text: part.text });
      progress.report(new vscode.LanguageModelTextPart(part.text));
    }
    record('answered', { id });
  },
  async provideTokenCount(_model, text) {
    return Math.ceil((typeof text === 'string' ? text : words(text)).length / 4);
  },
};

const tool = {
  async invoke(options) {
    record('tool', { input: options.input });
    return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart('41 passed, 1 failed')]);
  },
};

/** A tool that has VS Code ask the user by itself. */
const deploy = {
  prepareInvocation() {
    return { confirmationMessages: { title: 'Deploy to production?', message: 'This declares its own confirmation.' } };
  },
  async invoke(options) {
    record('tool', { input: options.input });
    return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart('deployed')]);
  },
};

/** Answers in the Chat view by the script; its tools are called as Copilot's are, and VS Code asks there. */
async function chat(request, _context, stream, token) {
  const { prompt } = request;
  record('chat', { prompt });
  token.onCancellationRequested(() => record('chatCancelled', { prompt }));
  for (const part of script().chat ?? [{ text: `Fake Copilot heard: ${prompt}` }]) {
    if (!(await due(part, token))) {
      return {};
    }
    if (part.tool !== undefined) {
      await vscode.lm.invokeTool(part.tool, { input: part.input, toolInvocationToken: request.toolInvocationToken }, token);
    } else if (part.text !== undefined) {
      stream.markdown(part.text);
    }
  }
  record('chatAnswered', { prompt });
  return {};
}

/** Sets the user's settings, as the settings editor does. */
async function configure(values) {
  for (const [name, value] of Object.entries(values)) {
    const all = vscode.workspace.getConfiguration();
    if (JSON.stringify(all.inspect(name)?.globalValue) !== JSON.stringify(value ?? undefined)) {
      await all.update(name, value ?? undefined, vscode.ConfigurationTarget.Global);
    }
  }
}

/**
 * A view with nothing in it, whose times the panel's are compared with. It exists while the gate emptyView is
 * open. Its page's measure() shows 100 messages of this extension, and returns how many milliseconds each one
 * took to its frame.
 */
const emptyView = {
  resolveWebviewView({ webview }) {
    webview.options = { enableScripts: true };
    webview.html = `<!DOCTYPE html><p data-testid="empty">Empty</p><script>
      const editor = acquireVsCodeApi();
      window.measure = () => new Promise((done) => {
        const times = [];
        addEventListener('message', ({ data }) => {
          document.querySelector('p').textContent = data.at;
          requestAnimationFrame(() => times.push(performance.timeOrigin + performance.now() - data.at) === 100 && done(times));
        });
        editor.postMessage('measure');
      });
    </script>`;
    webview.onDidReceiveMessage(async () => {
      for (let i = 0; i < 100; i++) {
        await pause(100);
        void webview.postMessage({ at: Date.now() });
      }
    });
  },
};

exports.activate = function activate(context) {
  if (folder === undefined) {
    throw new Error('AGENTVOICE_E2E_COPILOT is not set');
  }
  const changed = new vscode.EventEmitter();
  let models = JSON.stringify(script().models);
  let settings = script().settings;
  // The tests take models away and give them back, and change settings.
  const watch = setInterval(() => {
    const now = script();
    if (JSON.stringify(now.models) !== models) {
      models = JSON.stringify(now.models);
      changed.fire();
      record('models', { models: now.models });
    }
    if (now.settings.generation !== settings.generation) {
      settings = now.settings;
      void configure(settings.values).then(() => record('settings', {}));
    }
  }, 50);
  context.subscriptions.push(
    changed,
    { dispose: () => clearInterval(watch) },
    vscode.lm.registerLanguageModelChatProvider('copilot', {
      ...provider,
      onDidChangeLanguageModelChatInformation: changed.event,
    }),
    vscode.lm.registerTool('fake_runTests', tool),
    vscode.lm.registerTool('fake_deploy', deploy),
    vscode.window.registerWebviewViewProvider('fake.empty', emptyView),
    vscode.chat.createChatParticipant('fake.ask', chat),
    vscode.chat.createChatParticipant('fake.agent', chat),
  );
  void vscode.commands.executeCommand('setContext', 'fake.empty', fs.existsSync(path.join(folder, 'gate-emptyView')));
  record('ready', { version: vscode.version });
};
