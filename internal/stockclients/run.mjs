// Runs unmodified clients from npm against realtime-server, with recorded speech and a scripted
// chat endpoint, prints the transcripts and fails where a conversation is not as it must be.
//
//   node run.mjs DAEMON [CLIENT...]
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import assert from "node:assert/strict";
import { start as startChat } from "./chat.mjs";
import { recording } from "./microphone.mjs";

const daemon = process.argv[2];
const clients = process.argv.length > 3 ? process.argv.slice(3) : ["openai", "agents", "webrtc", "livekit", "live"];
const speech = "/usr/share/pocketsphinx/test/data/librivox/sense_and_sensibility_01_austen_64kb-";
const turns = ["0880", "0930", "0890"].map((n) => recording(`${speech}${n}.wav`));

// certify makes a certificate for this run, because OpenAI's clients connect by TLS only. It
// returns the certificate and the daemon's arguments.
function certify(dir) {
  const key = join(dir, "tls.key");
  const cert = join(dir, "tls.pem");
  const args = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1";
  execFileSync("openssl", [...args.split(" "), "-keyout", key, "-out", cert], { stdio: ["ignore", "ignore", "pipe"] });
  return { ca: readFileSync(cert), args: ["--tls-cert", cert, "--tls-key", key] };
}

// serve starts the daemon and waits until it listens.
async function serve(chat, keyFile, more) {
  const args = ["realtime-server", "--addr", "127.0.0.1:0", "--api-key-file", keyFile, "--agent", "openai", "--agent-endpoint", chat.url, "--agent-model", "scripted", ...more];
  const child = spawn(daemon, args, { stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface(child.stdout)) {
    const base = line.match(/^listening on (.*)$/)?.[1];
    if (base) return { base, child };
  }
  throw new Error("realtime-server did not start");
}

// checkRealtime says what is wrong with a conversation over the Realtime protocol, and
// returns what is to be told of it.
function checkRealtime(seen, requests) {
  assert.equal(seen.user.length, 3, "three turns were heard");
  for (const text of seen.user) assert.ok(text.split(" ").length >= 3, `"${text}" was heard`);
  assert.deepEqual(seen.calls, [{ name: "lookUp", word: "disposed" }], "the function is called once");
  assert.deepEqual(seen.statuses, ["completed", "completed", "cancelled", "completed"]);
  assert.equal(seen.truncatedAt.length, 1, "one answer is interrupted");
  assert.match(seen.assistant[0], /disposed means inclined/);
  assert.match(seen.assistant[2], /I stopped/);
  assert.equal(requests.length, 4, "the chat endpoint is asked four times");
  assert.equal(requests[0].tools[0].function.name, "lookUp");
  // The model is told what was heard of the interrupted answer, and not the rest.
  const heard = requests[3].messages.at(-2);
  assert.equal(heard.role, "assistant");
  assert.match(heard.content, /^I will read you/);
  assert.doesNotMatch(heard.content, /gate/);
  return `3 turns, 1 function call, 1 interruption; the model remembers "${heard.content}"`;
}

for (const client of clients) {
  const { name, prepare, tls = true, check = checkRealtime } = await import(`./${client}.mjs`);
  const { converse, origin, stop } = await prepare();
  const dir = mkdtempSync(join(tmpdir(), "agentvoice-stock-"));
  const chat = await startChat();
  const { ca, args } = tls ? certify(dir) : { args: [] };
  const server = await serve(chat, join(dir, "key"), origin ? [...args, "--allow-origin", origin] : args);
  console.log(name);
  try {
    const say = (who, text) => console.log(`  ${who.padEnd(10)}${text}`);
    const seen = await converse({ base: server.base, key: readFileSync(join(dir, "key"), "utf8").trim(), ca, dir, turns, say });
    console.log(`  passed: ${check(seen, chat.requests)}`);
  } finally {
    server.child.kill();
    chat.stop();
    stop?.();
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}
