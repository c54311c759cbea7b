// One story told by an official TypeScript client after a full sign-in.
// Usage: node typescript_client.mjs <sdk|client> <legacy|modern> <MCP URL> <workspace> [client as JSON]
// Without a client it registers itself.
// Prints what each call answered, as JSON.
import { execFileSync } from "node:child_process";

const [, , library, era, url, workspace, agreed] = process.argv;
const REDIRECT = "http://127.0.0.1:33419/callback";

const { Client, StreamableHTTPClientTransport, UnauthorizedError } =
  library === "client"
    ? await import("@modelcontextprotocol/client")
    : {
        ...(await import("@modelcontextprotocol/sdk/client/index.js")),
        ...(await import("@modelcontextprotocol/sdk/client/streamableHttp.js")),
        ...(await import("@modelcontextprotocol/sdk/client/auth.js")),
      };

// What the client keeps, and a person who says yes in a browser.
const kept = { client: agreed && JSON.parse(agreed) };
let answer;
const provider = {
  redirectUrl: REDIRECT,
  clientMetadata: {
    client_name: `TypeScript ${library}`,
    redirect_uris: [REDIRECT],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  },
  state: () => "a state of the client",
  clientInformation: () => kept.client,
  saveClientInformation: (client) => void (kept.client = client),
  tokens: () => kept.tokens,
  saveTokens: (tokens) => void (kept.tokens = tokens),
  codeVerifier: () => kept.verifier,
  saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
  discoveryState: () => kept.discovery,
  saveDiscoveryState: (state) => void (kept.discovery = state),
  redirectToAuthorization: (authorize) => {
    const page = execFileSync(process.env.PYTHON, [
      "-c",
      "import sys; from tests.e2e.browser import approve; print(approve(*sys.argv[1:]))",
      authorize.href,
      REDIRECT,
    ]);
    answer = new URL(page.toString().trim()).searchParams;
  },
};

const connect = async () => {
  const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
  const mode = era === "modern" ? { pin: "2026-07-28" } : "legacy";
  const options = library === "client" ? { versionNegotiation: { mode } } : {};
  const client = new Client({ name: "story", version: "1" }, options);
  try {
    await client.connect(transport);
    return client;
  } catch (error) {
    if (answer === undefined || kept.tokens) throw error;
    await transport.finishAuth(library === "client" ? answer : answer.get("code"));
    return connect();
  }
};

const client = await connect();
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
