// One story told by an official TypeScript client after a full sign-in.
// Usage: node typescript_client.mjs <sdk|client> <legacy|modern> <MCP URL> <workspace> [client as JSON]
// Without a client it registers itself.
// Prints what each call answered, as JSON.
import { connect } from "./typescript_connection.mjs";

const [, , library, era, url, workspace, agreed] = process.argv;

const client = await connect(library, era, url, agreed && JSON.parse(agreed));
const call = async (name, args) => {
  const { content, isError } = await client.callTool({ name, arguments: { workspace, ...args } });
  return { texts: content.map((block) => block.text), isError: isError ?? false };
};
const said = {
  tools: (await client.listTools()).tools.map((tool) => tool.name),
  written: await call("write", { path: "tomatoes.md", text: "# Tomatoes\n" }),
  again: await call("write", { path: "tomatoes.md", text: "# Tomatoes\n" }),
  read: await call("read", { path: "tomatoes.md" }),
  found: await call("search", { query: "tomatoes" }),
};
await client.close();
console.log(JSON.stringify(said));
