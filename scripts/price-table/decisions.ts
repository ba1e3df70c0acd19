/**
 * What no rule of `merge.ts` can know: each with its reason and where it can be checked. A test fails if a decision no
 * longer changes anything, so that none outlives its reason.
 */
import { COUNT_KINDS } from '../../src/features/prices/rates.ts'
import type { DatedPrice } from './claims.ts'
import type { SourceName } from './packages.ts'

export interface Decision {
  provider: string
  names: RegExp
  reason: string
  /** The source whose price of input and output holds. */
  prefer?: SourceName
  /** Changes the prices that were decided. */
  change?: (prices: DatedPrice[]) => DatedPrice[]
}

export const DECISIONS: Decision[] = [
  {
    provider: 'anthropic',
    names: /^claude-(?:sonnet-4|4-sonnet|sonnet-4[-.]5)(?:-0|-latest|-2025|-20250514|-20250929)?$/,
    reason:
      'Requests above 200,000 tokens cost twice the input price and 1.5 times the output price until the 1M context of Sonnet 4 and 4.5 ended on 2026-04-30: https://platform.claude.com/docs/en/release-notes/overview',
    change: (prices) => longContextUntil('2026-04-30', prices),
  },
  {
    provider: 'deepseek',
    names: /^deepseek-v3\.2$/,
    reason: 'DeepSeek published 0.28/0.42: https://api-docs.deepseek.com/news/news250929',
    prefer: 'models.dev',
  },
  {
    provider: 'deepseek',
    names: /^deepseek-(?:v4|flash)/,
    reason:
      'Peak hours are those of Monday to Friday, which only models.dev knows; Chinese public holidays, which have none, are not modeled: https://api-docs.deepseek.com/quick_start/pricing',
    change: (prices) => prices.map(onWorkdays),
  },
  {
    provider: 'x-ai',
    names: /^grok-code-fast(?:-1-0825)?$/,
    reason:
      'Other names of grok-code-fast-1, for which two of three sources have 0.2/1.5: https://docs.x.ai/docs/models',
    prefer: 'genai-prices',
  },
  {
    provider: 'aws',
    names: /^amazon\.nova-2-lite-v1:0$/,
    reason:
      'The price of one region; LiteLLM has the one of the global profile: https://aws.amazon.com/bedrock/pricing/',
    prefer: 'models.dev',
  },
  {
    provider: 'aws',
    names: /^us-gov\./,
    reason: 'Only LiteLLM lists the higher prices of the GovCloud regions: https://aws.amazon.com/bedrock/pricing/',
    prefer: 'litellm',
  },
]

function onWorkdays(price: DatedPrice): DatedPrice {
  const hours = price.extras?.hours.map((each) => ({ ...each, days: [1, 2, 3, 4, 5] }))
  return price.extras && hours ? { ...price, extras: { ...price.extras, hours } } : price
}

function longContextUntil(date: string, prices: DatedPrice[]): DatedPrice[] {
  const base = prices.at(-1)!
  const tier: DatedPrice['tiers'][number] = { fromTokens: 200_001, prices: {} }
  for (const kind of COUNT_KINDS) {
    const price = base[kind]
    if (price !== null) tier.prices[kind] = kind === 'output' ? (price * 3n) / 2n : price * 2n
  }
  const since = Date.parse(`${date}T00:00:00Z`)
  return [...prices.slice(0, -1), { ...base, tiers: [tier] }, { ...base, tiers: [], effectiveFrom: since }]
}
