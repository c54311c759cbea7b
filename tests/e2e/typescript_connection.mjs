// A connection by an official TypeScript client, after a full sign-in.
// connect(library, era, url, agreed): library is sdk or client, era legacy or modern, url that of MCP.
// A client that was agreed on by hand ({ client_id }) is not registered.
import { execFileSync } from "node:child_process";

const REDIRECT = "http://127.0.0.1:33419/callback";

const load = async (library) =>
  library === "client"
    ? await import("@modelcontextprotocol/client")
    : {
        ...(await import("@modelcontextprotocol/sdk/client/index.js")),
        ...(await import("@modelcontextprotocol/sdk/client/streamableHttp.js")),
        ...(await import("@modelcontextprotocol/sdk/client/auth.js")),
      };

// What the client keeps, and a person who says yes in a browser.
const kept = {};
let answer;
const provider = {
  redirectUrl: REDIRECT,
  clientMetadata: {
    client_name: "TypeScript",
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

export const connect = async (library, era, url, agreed) => {
  kept.client ??= agreed;
  const { Client, StreamableHTTPClientTransport } = await load(library);
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
    return connect(library, era, url, agreed);
  }
};
