// A scripted chat endpoint with OpenAI's chat completions, on loopback.
import { createServer } from "node:http";

// What is answered to the first, second and third turn of the user. A call is answered by
// its result, and the second answer is slow enough to be interrupted.
const script = [
  { call: { name: "lookUp", arguments: JSON.stringify({ word: "disposed" }) } },
  { text: "I will read you the whole list. The first entry is the library. The second entry is the garden. The third entry is the kitchen. The fourth entry is the stable. The fifth entry is the orchard. The sixth entry is the gate.", msPerWord: 250 },
  { text: "All right, I stopped.", msPerWord: 20 },
];

// start listens, and returns the base URL, the requests that came, and stop.
export async function start() {
  const requests = [];
  const server = createServer(async (req, res) => {
    let body = "";
    for await (const piece of req) body += piece;
    const asked = JSON.parse(body);
    requests.push(asked);
    const last = asked.messages.at(-1);
    const turn = asked.messages.filter((m) => m.role === "user").length - 1;
    const step = last.role === "tool" ? { text: `The dictionary says: ${last.content}.`, msPerWord: 20 } : script[turn];
    res.writeHead(200, { "Content-Type": "text/event-stream" });
    const send = (delta, finish_reason = null) => res.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
    if (step.call) {
      send({ tool_calls: [{ index: 0, id: "call_1", type: "function", function: step.call }] });
      send({}, "tool_calls");
    } else {
      for (const word of step.text.split(/(?<= )/)) {
        if (res.closed) return;
        send({ content: word });
        await new Promise((done) => setTimeout(done, step.msPerWord));
      }
      send({}, "stop");
    }
    res.end("data: [DONE]\n\n");
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    requests,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
