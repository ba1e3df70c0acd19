/** Requests and responses about prices, for the OpenAPI document. */
import type { AliasBody, NewPrice, PriceBody, PriceTableBody, RepricingBody, ResolutionBody } from './schema.ts'

export const EXAMPLE_PRICE: PriceBody = {
  id: 'prc_01a1fa172a0277f3983322718874f2e1',
  provider: 'anthropic',
  model: 'claude-sonnet-4-5',
  input: 3,
  output: 15,
  cache_read: 0.3,
  cache_write: 3.75,
  cache_write_1h: 6,
  tiers: [{ from_tokens: 200001, input: 6, output: 22.5, cache_read: 0.6, cache_write: 7.5, cache_write_1h: 12 }],
  input_audio: null,
  input_image: null,
  output_audio: null,
  output_image: null,
  tools: {},
  variants: [],
  hours: [],
  effective_from: null,
  source: 'default',
  loaded_at: '2026-11-20T17:40:00.000Z',
  loaded_by: null,
}

export const EXAMPLE_NEW_PRICE: NewPrice = {
  provider: 'openai',
  model: 'gpt-5',
  input: 1,
  output: 8,
  cache_read: 0.1,
  effective_from: '2026-12-01',
}

const ADA = { id: 'usr_01a1fa172a0277f3983322718874f2e0', name: 'Ada' }

export const EXAMPLE_SET_PRICE: PriceBody = {
  id: 'prc_01a1fa172a0277f3983322718874f2e2',
  provider: 'openai',
  model: 'gpt-5',
  input: 1,
  output: 8,
  cache_read: 0.1,
  cache_write: null,
  cache_write_1h: null,
  tiers: [],
  input_audio: null,
  input_image: null,
  output_audio: null,
  output_image: null,
  tools: {},
  variants: [],
  hours: [],
  effective_from: '2026-12-01T00:00:00.000Z',
  source: 'admin',
  loaded_at: '2026-11-20T18:20:42.117Z',
  loaded_by: ADA,
}

export const EXAMPLE_VALUED: RepricingBody = {
  dry_run: false,
  entries: 2,
  list_value: { before: 0, after: 0.0527562 },
  cost: { before: 0, after: 0.0527562 },
  models: [{ model: 'our-coder', entries: 2, list_value: { before: 0, after: 0.0527562 } }],
  complete: true,
  next_page: null,
}

const { id: _id, source: _source, loaded_at: _at, loaded_by: _by, ...ROW } = EXAMPLE_PRICE

export const EXAMPLE_LOADED: PriceTableBody = {
  dry_run: false,
  format: 'litellm',
  counts: { new: 0, changed: 1, unchanged: 2176, refused: 1, skipped: 124, aliases: 0, rounded: 0 },
  new: [],
  changed: [{ before: { ...ROW, input: 3.3 }, after: { ...ROW, effective_from: '2026-11-20T00:00:00.000Z' } }],
  refused: [
    {
      provider: 'wandb',
      model: 'wandb/openai/gpt-oss-20b',
      reasons: [
        {
          code: 'above_limit',
          message: 'input is $5,000 per million tokens, above the limit of $1,000; check the unit',
        },
      ],
    },
  ],
  skipped: { embedding: 124 },
  unused: { batch: 190 },
  rounded: [],
  valued: EXAMPLE_VALUED,
}

export const EXAMPLE_RESOLUTION: ResolutionBody = {
  model: 'claude-sonnet-4-5-20250929',
  provider: null,
  at: '2026-11-20T18:20:42.117Z',
  step: 6,
  price: EXAMPLE_PRICE,
  steps: [
    { step: 1, outcome: 'not_listed', detail: 'no price set by hand has this name' },
    { step: 2, outcome: 'does_not_apply', detail: 'no alias has this name' },
    { step: 3, outcome: 'does_not_apply', detail: 'neither the entry nor the name contains a provider' },
    { step: 4, outcome: 'not_listed', detail: "'claude-sonnet-4-5-20250929' is not listed by anthropic" },
    { step: 5, outcome: 'does_not_apply', detail: 'the name is already in normalized form' },
    { step: 6, outcome: 'found', detail: "'claude-sonnet-4-5' at anthropic, always in effect, source default" },
  ],
  value: {
    parts: [
      { kind: 'input', tokens: 1200, price: 3, from_tokens: null, amount: 0.0036 },
      { kind: 'output', tokens: 340, price: 15, from_tokens: null, amount: 0.0051 },
    ],
    multipliers: [],
    tools: [],
    note: null,
    list_value: 0.0087,
  },
}

export const EXAMPLE_ALIAS: AliasBody = {
  alias: 'our-coder',
  provider: null,
  model: 'claude-sonnet-4-5',
  source: 'admin',
  created_at: '2026-11-20T18:20:42.117Z',
  created_by: ADA,
}
