// What the tests of one client have in common: a table of checks, each of them run against every kind of provider. The same
// as ../python/matrix.py, with the same variables.

import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";

export const GATEWAY = process.env.ONWARDS_BASE_URL;
export const TAP = process.env.TAP_URL;
export const KINDS = ["openai", "azure_openai", "anthropic", "gemini", "bedrock"];
const FEATURES = ["unary", "stream", "tools", "parallel tools", "images", "structured output", "reasoning", "errors"];

export const HELLO = "Hello, wörld 😀\u2028bye";
export const SCHEMA = {
  type: "object",
  properties: { city: { type: "string" }, days: { type: "integer" } },
  required: ["city", "days"],
  additionalProperties: false,
};
export const RESULTS = { Oslo: "rain, 7 degrees", Lima: "sun, 25 degrees" };
export const OSLO = { city: "Oslo", days: 3 };
export const LIMA = { city: "Lima", days: 1 };
export const THOUGHT = "Let me think about it.";

export async function picture() {
  return Buffer.from(await (await fetch(`${TAP}/picture.png`)).arrayBuffer());
}

/** The bodies that the provider was sent since the check began. */
export async function seen() {
  return (await (await fetch(`${TAP}/seen`)).json()).map((request) => request.body);
}

/** The provider was sent the picture in the way of its kind, once, after the words about it. */
export async function checkPicture(kind) {
  const [body, ...others] = await seen();
  assert.deepEqual(others, []);
  const data = (await picture()).toString("base64");
  const ways = {
    openai: () => [body.messages.at(-1).content[1].image_url.url, `data:image/png;base64,${data}`],
    azure_openai: () => [body.messages.at(-1).content[1].image_url.url, `data:image/png;base64,${data}`],
    anthropic: () => [
      body.messages.at(-1).content[1].source,
      { type: "base64", media_type: "image/png", data },
    ],
    gemini: () => [body.contents.at(-1).parts[1], { inlineData: { mimeType: "image/png", data } }],
    bedrock: () => [body.messages.at(-1).content[1], { image: { format: "png", source: { bytes: data } } }],
  };
  const [got, expected] = ways[kind]();
  assert.deepEqual(got, expected);
}

export class Matrix {
  #checks = [];

  constructor(protocol, client) {
    this.protocol = protocol;
    this.client = client;
  }

  /** Adds a check; it is given the alias and the kind that serves it. */
  check(feature, name, body, kinds = KINDS) {
    assert.ok(FEATURES.includes(feature), feature);
    for (const kind of kinds) this.#checks.push({ feature, kind, name, body });
  }

  async run() {
    let [passed, failed] = [0, 0];
    for (const { feature, kind, name, body } of this.#checks) {
      await fetch(`${TAP}/run`, { method: "POST" });
      let why = "ok";
      try {
        await body(`m-${kind}`, kind);
        passed++;
      } catch (error) {
        failed++;
        why = `${name}: ${error}`.replaceAll(/\s+/g, " ").slice(0, 500);
        const lines = [...String(error?.stack).matchAll(/([\w-]+\.mjs:\d+)/g)].map((found) => found[1]);
        console.log(`${this.client}: ${kind}, ${feature}, ${why} (${lines.join(" ")})`);
      }
      if (process.env.ONWARDS_MATRIX) {
        appendFileSync(process.env.ONWARDS_MATRIX, `${[this.protocol, kind, feature, why].join("\t")}\n`);
      }
    }
    console.log(`${this.client}: ${passed} passed, ${failed} failed`);
    process.exitCode = passed && !failed ? 0 : 1;
  }
}
