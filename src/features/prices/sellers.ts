/**
 * Sellers of models in names and reports (docs/design/pricing.md, "Finding the row for a model name"). Agents, gateways
 * and price tables have different names for the same one: LiteLLM's `bedrock` is `aws` in the embedded table.
 */

/** The names of each seller: `azure_ai` sells what `azure` does. */
const SELLERS: string[][] = [
  ['aws', 'bedrock', 'amazon-bedrock', 'bedrock_converse'],
  ['azure', 'azure_ai', 'azure_openai', 'azure-openai'],
  ['google', 'gemini', 'vertex_ai', 'vertex', 'google-vertex', 'google-vertex-anthropic'],
  ['x-ai', 'xai'],
  ['deepseek'],
  ['mistral', 'mistralai'],
  ['moonshotai', 'moonshot'],
  ['zai', 'z-ai'],
  ['alibaba', 'dashscope'],
  ['minimax'],
  ['perplexity'],
  ['groq'],
  ['cerebras'],
  ['deepinfra'],
  ['fireworks', 'fireworks_ai', 'fireworks-ai'],
  ['together', 'together_ai', 'togetherai'],
  ['github-copilot', 'github_copilot'],
  ['vercel', 'vercel_ai_gateway'],
]

const NAMES = new Map(SELLERS.flatMap((names) => names.map((name) => [name, names] as const)))

/** All names of the seller that a report names, the given one first. */
export function sellerNames(provider: string): string[] {
  const names = NAMES.get(provider.toLowerCase())
  return names ? [...new Set([provider, ...names])] : [provider]
}

/** How LiteLLM calls Bedrock's interfaces, which cost the same: `bedrock/converse/us.anthropic.…`. */
const INTERFACE = /^(?:converse|converse_like|invoke)\/(?=.)/

/** The ARN of one of Bedrock's own profiles ends with its name; those of an account say nothing about the model. */
const ARN = /^arn:aws[\w-]*:bedrock:[\w-]*:\d*:(?:inference-profile|foundation-model)\/(?=.)/

/**
 * The seller that a name begins with, by all of its names, and the rest: `xai/grok-4` is xAI's `grok-4`. Undefined if it
 * begins with none.
 */
export function sellerInName(name: string): { providers: string[]; rest: string } | undefined {
  const arn = ARN.exec(name)?.[0]
  if (arn) return { providers: sellerNames('aws'), rest: name.slice(arn.length) }
  const slash = name.indexOf('/')
  const names = NAMES.get(name.slice(0, Math.max(0, slash)).toLowerCase())
  if (!names || slash === name.length - 1) return undefined
  return { providers: names, rest: name.slice(slash + 1).replace(INTERFACE, '') }
}
