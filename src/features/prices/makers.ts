/**
 * The maker of a model, by its bare name. This only decides in which providers' rows a bare name is looked up, which is
 * always exact: `gpt-9` is OpenAI's, but has no price until OpenAI has a row named `gpt-9`.
 *
 * Makers whose models are only run by others, or by users themselves (Microsoft's Phi, NVIDIA's Nemotron), are
 * intentionally absent: a bare name has no price of the maker.
 */
interface Maker {
  names: RegExp
  /** The maker's names in price tables and routers when it sells its models itself, in order of precedence. */
  providers: string[]
}

const MAKERS: Maker[] = [
  // Bedrock's names of its own and other makers' models, with or without the regions that they are run in. They come
  // first: `deepseek.v3.2` is not DeepSeek's own name.
  {
    names:
      /^(?:[a-z]{2,6}(?:-gov)?\.)?(?:ai21|amazon|anthropic|cohere|deepseek|google|meta|minimax|mistral|moonshot|moonshotai|nvidia|openai|qwen|writer|xai|zai)\.[a-z]/i,
    providers: ['aws', 'bedrock', 'bedrock_converse', 'amazon-bedrock'],
  },
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
  { names: /^voyage-/i, providers: ['voyageai', 'voyage'] },
  { names: /^composer-/i, providers: ['cursor'] },
  { names: /^trinity/i, providers: ['arcee', 'arcee-ai'] },
  { names: /^jev-/i, providers: ['typesafe'] },
  { names: /^mimo-/i, providers: ['xiaomi'] },
  { names: /^step-/i, providers: ['stepfun-ai', 'stepfun'] },
  { names: /^swe-/i, providers: ['cognition'] },
  { names: /^mercury/i, providers: ['inception'] },
  { names: /^jamba/i, providers: ['ai21'] },
  { names: /^solar-/i, providers: ['upstage'] },
  { names: /^muse-/i, providers: ['meta'] },
]

const NO_PROVIDERS: string[] = []

/** The providers to look up a bare name at; none for a name without a known maker, such as `auto`. */
export function makersProviders(name: string): string[] {
  return MAKERS.find((maker) => maker.names.test(name))?.providers ?? NO_PROVIDERS
}

const PROVIDERS_OF_MAKERS = new Set(MAKERS.flatMap((maker) => maker.providers))

export function isMaker(provider: string): boolean {
  return PROVIDERS_OF_MAKERS.has(provider)
}
