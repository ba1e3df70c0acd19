/**
 * Who makes a model, told by its bare name. Only decides in whose rows a bare name is looked up, which is then done
 * exactly: `gpt-9` is OpenAI's, but has no price until OpenAI has a row named `gpt-9`.
 *
 * Makers whose models are only run by others, or by people themselves (Microsoft's Phi, NVIDIA's Nemotron), are
 * deliberately absent: there is no price of their own for a bare name.
 */
interface Maker {
  names: RegExp
  /** How price tables and routers call the maker where it sells its models itself; the first one comes first. */
  providers: string[]
}

const MAKERS: Maker[] = [
  { names: /^claude/i, providers: ['anthropic'] },
  { names: /^(?:gpt|chatgpt|codex|o\d|computer-use|text-embedding)/i, providers: ['openai'] },
  { names: /^(?:gemini|gemma)/i, providers: ['google', 'gemini'] },
  {
    names: /^(?:labs-)?(?:mistral|ministral|magistral|codestral|devstral|mixtral|pixtral|voxtral|open-mi[sx]tral)/i,
    providers: ['mistral', 'mistralai'],
  },
  { names: /^deepseek/i, providers: ['deepseek', 'deepseek-ai'] },
  { names: /^grok/i, providers: ['x-ai', 'xai'] },
  { names: /^(?:command|c4ai-|embed-)/i, providers: ['cohere', 'cohere_chat'] },
  { names: /^(?:llama|codellama)/i, providers: ['meta', 'meta-llama', 'meta_llama', 'llama'] },
  { names: /^(?:kimi|moonshot)/i, providers: ['moonshotai', 'moonshot'] },
  // Z.ai sells Zhipu's models outside China, in dollars; Zhipu's own prices are converted from yuan.
  { names: /^glm/i, providers: ['zai', 'z-ai', 'zai-org', 'zhipuai'] },
  { names: /^(?:qwen|qwq|qvq)/i, providers: ['alibaba', 'dashscope', 'qwen'] },
  { names: /^minimax/i, providers: ['minimax', 'minimaxai'] },
  { names: /^(?:sonar|r1-1776)/i, providers: ['perplexity'] },
  { names: /^amazon\./i, providers: ['aws'] },
  { names: /^voyage-/i, providers: ['voyageai', 'voyage'] },
  { names: /^composer-/i, providers: ['cursor'] },
  { names: /^trinity/i, providers: ['arcee', 'arcee-ai'] },
  { names: /^jev-/i, providers: ['typesafe'] },
]

const NOBODY: string[] = []

/** The providers at which a bare name may be taken; none for a name that no maker owns, such as `auto`. */
export function makersProviders(name: string): string[] {
  return MAKERS.find((maker) => maker.names.test(name))?.providers ?? NOBODY
}

const PROVIDERS_OF_MAKERS = new Set(MAKERS.flatMap((maker) => maker.providers))

export function isMaker(provider: string): boolean {
  return PROVIDERS_OF_MAKERS.has(provider)
}
