// An assistant that adds line after line to some notes until its input ends.
// Usage: node typescript_writer.mjs <sdk|client> <legacy|modern> <MCP URL> <name> <note>...
// Each line is sent again, with the same command_id, until there is an answer to it.
// Prints a line before it is first sent, and once more when it was acknowledged, as JSON.
import { setTimeout as wait } from "node:timers/promises";

import { connect } from "./typescript_connection.mjs";

const [, , library, era, url, name, ...notes] = process.argv;

let isOver = false;
process.stdin.on("end", () => void (isOver = true)).resume();

const isDone = async (client, args) => {
  try {
    return !(await client.callTool({ name: "append", arguments: args })).isError;
  } catch {
    return false; // the function vanished
  }
};

const client = await connect(library, era, url);
for (let turn = 1; !isOver; turn++) {
  const text = `- ${name}.${turn};\n`;
  const path = notes[turn % notes.length];
  console.log(JSON.stringify({ sent: text }));
  for (let tries = 40; tries > 0; tries--) {
    if (await isDone(client, { workspace: "garden", path, text, command_id: text.trim() })) {
      console.log(JSON.stringify({ acknowledged: text }));
      break;
    }
    await wait(1000);
  }
}
await client.close();
