// Vercel's AI SDK over Anthropic Messages, with every kind of provider.

import { createAnthropic } from "@ai-sdk/anthropic";

import { add } from "./ai-checks.mjs";
import { GATEWAY, Matrix } from "./matrix.mjs";

const provider = createAnthropic({ baseURL: `${GATEWAY}/v1`, apiKey: "sk-any" });

const matrix = new Matrix("messages", "node-ai-anthropic");
add(matrix, {
  model: (name) => provider(name),
  thinking: { anthropic: { thinking: { type: "enabled", budgetTokens: 8192 } } },
  // Thoughts that nobody has signed are not shown to clients that would send them back. aimock does not sign those of Bedrock,
  // which is known at the end of them only, when a stream has shown them.
  thoughts: { whole: ["anthropic"], streamed: ["anthropic", "bedrock"] },
  forwards: ["openai", "azure_openai", "anthropic"],
});
await matrix.run();
