// OpenAI's Agents library, unmodified, over WebRTC in Chromium: the microphone is a
// recording of the three turns, and the library does everything else.
import { spawn } from "node:child_process";
import { createReadStream, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

export const name = "@openai/agents-realtime 0.20.0, RealtimeSession over WebRTC in Chromium";

const here = fileURLToPath(new URL(".", import.meta.url));
const bundle = join(here, "node_modules/@openai/agents-realtime/dist/bundle");
const rate = 24000;

// startsAt are the seconds of the recording at which the turns begin: the second when the
// first answer has ended, the third within the second answer.
const startsAt = [2, 14, 23];

// record writes the microphone's WAV file.
function record(file, turns) {
  const pcm = new Int16Array(rate * 45);
  turns.forEach((turn, i) => pcm.set(turn, startsAt[i] * rate));
  const head = Buffer.alloc(44);
  head.write("RIFF", 0);
  head.writeUInt32LE(36 + pcm.byteLength, 4);
  head.write("WAVEfmt ", 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write("data", 36);
  head.writeUInt32LE(pcm.byteLength, 40);
  writeFileSync(file, Buffer.concat([head, Buffer.from(pcm.buffer)]));
}

// page serves the page with the library, and hands on what the page reports.
async function page(config, report) {
  const server = createServer(async (req, res) => {
    if (req.method === "POST") {
      let body = "";
      for await (const piece of req) body += piece;
      report(JSON.parse(body));
      res.end();
    } else if (req.url === "/") {
      res.setHeader("Content-Type", "text/html");
      res.end(`<script>window.config = ${JSON.stringify(config)}</script><script type="module" src="/page.mjs"></script>`);
    } else {
      const file = req.url === "/page.mjs" ? join(here, "page.mjs") : join(bundle, normalize(req.url));
      res.setHeader("Content-Type", "text/javascript");
      createReadStream(file).on("error", () => res.destroy()).pipe(res);
    }
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return server;
}

// prepare serves the page, whose origin the daemon is started with.
export async function prepare() {
  const config = {};
  let report = () => {};
  const server = await page(config, (e) => report(e));
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    converse: async ({ base, key, dir, turns, say }) => {
      Object.assign(config, { base, key });
      const seen = { user: [], assistant: [], calls: [], statuses: [], truncatedAt: [] };
      const microphone = join(dir, "microphone.wav");
      record(microphone, turns);
      const browser = spawn(
        process.env.CHROMIUM ?? "chromium",
        [
          "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
          "--ignore-certificate-errors", "--allow-loopback-in-peer-connection", "--autoplay-policy=no-user-gesture-required",
          "--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream", `--use-file-for-fake-audio-capture=${microphone}%noloop`,
          `--user-data-dir=${join(dir, "browser")}`, `http://127.0.0.1:${server.address().port}/`,
        ],
        { stdio: "ignore" },
      );
      try {
        await new Promise((done, fail) => {
          const late = setTimeout(() => fail(new Error("the conversation did not end in 90 s")), 90_000);
          report = (e) => {
            switch (e.type) {
              case "failed":
                clearTimeout(late);
                return fail(new Error(e.message));
              case "call":
                seen.calls.push({ name: "lookUp", word: e.word });
                return say("function", `lookUp(${JSON.stringify({ word: e.word })})`);
              case "user":
                seen.user.push(e.text);
                return say("user", e.text);
              case "truncated":
                seen.truncatedAt.push(e.ms);
                return say("", `(interrupted after ${e.ms} ms)`);
              case "done":
                seen.statuses.push(e.status);
                if (e.text !== "") {
                  seen.assistant.push(e.text);
                  say("assistant", e.text);
                }
                if (seen.statuses.length === 4) {
                  clearTimeout(late);
                  done();
                }
            }
          };
        });
      } finally {
        const gone = new Promise((done) => browser.once("close", done));
        browser.kill();
        await gone;
      }
      return seen;
    },
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
