/**
 * Who sells a model, by the providers of LiteLLM and models.dev, in the names that genai-prices and the embedded table
 * have for them. Providers that are absent are left out: nobody reports them, or their prices are another currency's.
 */

interface Seller {
  provider: string
  /** What precedes the model's own name. */
  prefix: RegExp
}

const NO_PREFIX = /^(?!)/

/** Vertex AI sells the models of the Gemini API under the same names; the first listed price of a name is kept. */
const LITELLM: Record<string, Seller> = {
  anthropic: { provider: 'anthropic', prefix: NO_PREFIX },
  openai: { provider: 'openai', prefix: /^openai\// },
  'text-completion-openai': { provider: 'openai', prefix: NO_PREFIX },
  gemini: { provider: 'google', prefix: /^gemini\// },
  mistral: { provider: 'mistral', prefix: /^mistral\// },
  deepseek: { provider: 'deepseek', prefix: /^deepseek\// },
  xai: { provider: 'x-ai', prefix: /^xai\// },
  cohere_chat: { provider: 'cohere', prefix: NO_PREFIX },
  meta: { provider: 'meta', prefix: /^meta\// },
  moonshot: { provider: 'moonshotai', prefix: /^moonshot\// },
  zai: { provider: 'zai', prefix: /^zai\// },
  dashscope: { provider: 'alibaba', prefix: /^dashscope\// },
  minimax: { provider: 'minimax', prefix: /^minimax\// },
  perplexity: { provider: 'perplexity', prefix: /^perplexity\// },
  azure: { provider: 'azure', prefix: /^azure\// },
  azure_ai: { provider: 'azure', prefix: /^azure_ai\// },
  bedrock: { provider: 'aws', prefix: /^bedrock\// },
  bedrock_converse: { provider: 'aws', prefix: /^bedrock\// },
  groq: { provider: 'groq', prefix: /^groq\// },
  cerebras: { provider: 'cerebras', prefix: /^cerebras\// },
  deepinfra: { provider: 'deepinfra', prefix: /^deepinfra\// },
  fireworks_ai: { provider: 'fireworks', prefix: /^fireworks_ai\// },
  together_ai: { provider: 'together', prefix: /^together_ai\// },
  github_copilot: { provider: 'github-copilot', prefix: /^github_copilot\// },
  vercel_ai_gateway: { provider: 'vercel', prefix: /^vercel_ai_gateway\// },
}
const VERTEX: Seller = { provider: 'google', prefix: /^vertex_ai\// }

/** The embedded table's provider and name of a model in LiteLLM; undefined if it is left out. */
export function litellmSeller(provider: string, name: string): { provider: string; name: string } | undefined {
  const seller = isVertex(provider) ? VERTEX : LITELLM[provider]
  return seller && { provider: seller.provider, name: name.replace(seller.prefix, '') }
}

export function isVertex(provider: string): boolean {
  return /^vertex_ai(?:-|$)/.test(provider)
}

const MODELS_DEV: Record<string, string> = { xai: 'x-ai', 'amazon-bedrock': 'aws' }

/** China's platforms, whose prices are converted from yuan, and test platforms that are free. */
const LEFT_OUT = /^(?:bailing|longcat|nova|sensenova|tencent-tokenhub|thinkingmachines|volcengine)$/

/** models.dev gives models that create images, sound or video the price of those instead of the price of text. */
const CREATES_MEDIA = /image|omni|banana|tts|audio|live|realtime|veo|lyria|embed/

/** The embedded table's provider of a model in models.dev; undefined if it is left out. */
export function modelsDevSeller(provider: string, name: string): string | undefined {
  if (LEFT_OUT.test(provider) || CREATES_MEDIA.test(name)) return undefined
  return MODELS_DEV[provider] ?? provider
}
