// Vercel's AI SDK over Chat Completions, with every kind of provider.

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";

import { add } from "./ai-checks.mjs";
import { GATEWAY, KINDS, Matrix } from "./matrix.mjs";

const provider = createOpenAICompatible({
  name: "onwards",
  baseURL: `${GATEWAY}/v1`,
  apiKey: "sk-any",
  includeUsage: true,
  supportsStructuredOutputs: true,
});

const matrix = new Matrix("chat", "node-ai-openai-compatible");
add(matrix, {
  model: (name) => provider.chatModel(name),
  thinking: { onwards: { reasoningEffort: "medium" } },
  thoughts: { whole: KINDS, streamed: KINDS },
});
await matrix.run();
