/** Requests and responses about prices, for the OpenAPI document. */
import type { ComparisonBody, PriceLoadBody, UpdateStateBody } from './load-schema.ts'
import type {
  AddedPrice,
  AliasBody,
  NewPrice,
  PriceBody,
  PriceTableBody,
  RepricingBody,
  ResolutionBody,
  WithdrawnPrices,
} from './schema.ts'

const NO_OTHER_CHARGES = {
  input_audio: null,
  input_image: null,
  output_audio: null,
  output_image: null,
  tools: {},
  variants: [],
  hours: [],
} satisfies Partial<PriceBody>

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
  ...NO_OTHER_CHARGES,
  effective_from: null,
  effective_until: null,
  source: 'default',
  as_of: '2026-09-23',
  loaded_at: '2026-11-20T17:40:00.000Z',
  loaded_by: null,
  withdrawn_at: null,
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
  ...NO_OTHER_CHARGES,
  effective_from: '2026-12-01T00:00:00.000Z',
  effective_until: null,
  source: 'admin',
  as_of: '2026-11-20',
  loaded_at: '2026-11-20T18:20:42.117Z',
  loaded_by: ADA,
  withdrawn_at: null,
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

const listed = ({ id: _id, loaded_at: _at, loaded_by: _by, withdrawn_at: _withdrawn, ...row }: PriceBody) => row
const ROW = listed(EXAMPLE_PRICE)
const { source: _source, as_of: _asOf, ...SET_ROW } = listed(EXAMPLE_SET_PRICE)
const TABLE_ROW = {
  ...listed(EXAMPLE_SET_PRICE),
  input: 1.25,
  output: 10,
  cache_read: 0.125,
  effective_from: null,
  source: 'default' as const,
}

export const EXAMPLE_ADDED_PRICE: AddedPrice = {
  dry_run: false,
  added: true,
  price: null,
  before: TABLE_ROW,
  after: SET_ROW,
  kept: [],
  valued: EXAMPLE_VALUED,
}

const UNTIL = '2027-01-01T00:00:00.000Z'

export const EXAMPLE_WITHDRAWN_PRICES: WithdrawnPrices = {
  dry_run: false,
  effective_until: UNTIL,
  prices: [{ ...EXAMPLE_SET_PRICE, effective_until: UNTIL }],
  before: listed(EXAMPLE_SET_PRICE),
  after: TABLE_ROW,
}

const CHANGED = {
  before: { ...ROW, input: 3.3 },
  after: {
    ...ROW,
    effective_from: '2026-11-20T00:00:00.000Z',
    source: 'litellm' as const,
    as_of: '2026-11-19',
  },
}

const DIFFERENCE = {
  model: 'claude-sonnet-4-5-20250929',
  provider: null,
  entries: 412,
  at: '2026-11-20T18:20:42.117Z',
  ...CHANGED,
  change: 0.0909,
}

export const EXAMPLE_LOADED: PriceTableBody = {
  dry_run: false,
  format: 'litellm',
  as_of: '2026-11-19',
  as_of_from: 'modified',
  load: 'pld_01a1fa172a0277f3983322718874f2ef',
  counts: {
    new: 0,
    changed: 1,
    same_price: 0,
    overridden: 0,
    unchanged: 2176,
    removed: 0,
    older: 0,
    refused: 1,
    skipped: 124,
    aliases: 0,
    rounded: 0,
  },
  new: [],
  changed: [CHANGED],
  same_price: [],
  overridden: [],
  older: [],
  removed: [],
  in_use: [DIFFERENCE],
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
  unused: { input_cost_per_image: 12 },
  rounded: [],
  valued: EXAMPLE_VALUED,
}

export const EXAMPLE_RESOLUTION: ResolutionBody = {
  model: 'claude-sonnet-4-5-20250929',
  provider: null,
  at: '2026-11-20T18:20:42.117Z',
  step: 6,
  price: EXAMPLE_PRICE,
  sources: [{ source: 'genai-prices', version: '0.2.3', as_of: '2026-11-10' }],
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

export const EXAMPLE_LOAD: PriceLoadBody = {
  id: 'pld_01a1fa172a0277f3983322718874f2ef',
  format: 'litellm',
  name: 'model_prices_and_context_window.json',
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  as_of: '2026-11-19',
  counts: {
    new: 0,
    changed: 1,
    same_price: 0,
    overridden: 0,
    unchanged: 2176,
    removed: 0,
    older: 0,
    refused: 1,
    aliases: 0,
  },
  loaded_at: '2026-11-20T18:20:42.117Z',
  loaded_by: ADA,
  undone_at: null,
  undone_by: null,
}

export const EXAMPLE_UPDATE_STATE: UpdateStateBody = {
  configured: true,
  every_seconds: 86_400,
  source: 'https://example.com/prices.json',
  attempted_at: '2026-11-20T18:20:42.117Z',
  succeeded_at: '2026-11-20T18:20:43.017Z',
  error: null,
  failures: 0,
}

export const EXAMPLE_COMPARISON: ComparisonBody = { format: null, models: 14, differences: [DIFFERENCE] }
