/** A session as it is reported and returned, for the OpenAPI document. */
import type {
  DividedTokenEntry,
  ListedTokenEntry,
  TokenEntriesActionResults,
  TokenEntry,
  TokenEntryDetail,
  TokenEntryHistory,
  TokenEntryReport,
} from './schema.ts'

export const EXAMPLE_REPORT: TokenEntryReport = {
  agent_harness: 'claude-code',
  agent_name: 'reviewer',
  model: 'claude-sonnet-4-5',
  started_at: '2026-11-20T17:53:04Z',
  ended_at: '2026-11-20T18:20:41Z',
  tokens: { input: 522, output: 228, cache_read: 20982, cache_write: 3066, cache_write_1h: 600 },
  session_id: '7abded9e-af37-492b-8216-95394ad33034',
  project: 'acme-web',
  ticket: 'ACME-42',
  summary: 'Fix the flaky login test',
  labels: { repository: 'acme/web', branch: 'feature/ACME-42' },
}

export const EXAMPLE_ENTRY: TokenEntry = {
  id: 'ent_01a1fa172a0277f3983322718874f2ef',
  status: 'submitted',
  source: 'report',
  agent_manager: { id: 'usr_01a1fa172a0277f3983322718874f2e0', name: 'Ada' },
  manager_by: 'token',
  agent_harness: 'claude-code',
  agent_name: 'reviewer',
  model: 'claude-sonnet-4-5',
  provider: null,
  started_at: '2026-11-20T17:53:04.000Z',
  ended_at: '2026-11-20T18:20:41.000Z',
  tokens: {
    input: 522,
    output: 228,
    cache_read: 20982,
    cache_write: 3066,
    cache_write_1h: 600,
    total: 25398,
    over_200k: null,
    input_audio: null,
    input_image: null,
    output_audio: null,
    output_image: null,
  },
  requests: null,
  requests_above: null,
  service_tier: null,
  speed: null,
  region: null,
  active_seconds: null,
  tools: null,
  cost: 0.0263781,
  reported_cost: null,
  list_value: 0.0263781,
  cost_mismatch: false,
  price: { id: 'prc_01a1fa172a0277f3983322718874f2e1', step: 3, note: null },
  project: { id: 'prj_01a1fa172a0277f3983322718874f2e2', key: 'acme-web', name: 'acme-web' },
  ticket: { id: 'tkt_01a1fa172a0277f3983322718874f2e3', key: 'ACME-42' },
  placement: { by: 'named', rule: null, note: null, named_project: null, named_ticket: null },
  summary: 'Fix the flaky login test',
  labels: { branch: 'feature/ACME-42', repository: 'acme/web' },
  session_id: '7abded9e-af37-492b-8216-95394ad33034',
  part: 1,
  continues: null,
  slice: null,
  corrected: [],
  division: null,
  superseded: false,
  possible_duplicate_of: null,
  bill: null,
  sheet: null,
  funding: {
    kind: 'plan',
    plan: { id: 'pln_01a1fa172a0277f3983322718874f2ef', name: 'Claude Max' },
    reason: 'person',
    rule: null,
    note: null,
    reported_funding: null,
    reported_plan: null,
    metered_share: null,
  },
  created_at: '2026-11-20T18:20:42.117Z',
  updated_at: null,
}

/** Of an entry that a plan without an allowance pays. */
export const EXAMPLE_LISTED: ListedTokenEntry = {
  ...EXAMPLE_ENTRY,
  funding: {
    kind: 'plan',
    plan: { id: 'pln_01a1fa172a0277f3983322718874f2e3', name: 'Claude Max' },
    reason: 'person',
    rule: null,
    note: null,
    reported_funding: null,
    reported_plan: null,
    metered_share: null,
  },
  marginal_cost: 0,
  allocated_cost: 0.008214357,
  fee_share: 0.008214357,
  provisional: true,
}

export const EXAMPLE_DETAIL: TokenEntryDetail = {
  ...EXAMPLE_LISTED,
  placed_by_rule: null,
  settled_by: null,
  valuation: {
    price: {
      id: 'prc_01a1fa172a0277f3983322718874f2e1',
      provider: 'anthropic',
      model: 'claude-sonnet-4-5',
      source: 'default',
      effective_from: null,
    },
    parts: [
      { kind: 'input', tokens: 522, price: 3, from_tokens: null, amount: 0.001566 },
      { kind: 'output', tokens: 228, price: 15, from_tokens: null, amount: 0.00342 },
      { kind: 'cache_read', tokens: 20982, price: 0.3, from_tokens: null, amount: 0.0062946 },
      { kind: 'cache_write', tokens: 3066, price: 3.75, from_tokens: null, amount: 0.0114975 },
      { kind: 'cache_write_1h', tokens: 600, price: 6, from_tokens: null, amount: 0.0036 },
    ],
    multipliers: [],
    tools: [],
    list_value: 0.0263781,
  },
}

export const EXAMPLE_HISTORY: TokenEntryHistory = {
  data: [
    {
      at: '2026-11-20T18:20:42.117Z',
      action: 'created',
      actor: {
        user: { id: 'usr_01a1fa172a0277f3983322718874f2e0', name: 'Ada' },
        token: { id: 'tok_01a1fa172a0277f3983322718874f2ef', name: 'ci' },
      },
      details: {},
    },
  ],
  names: [],
}

export const EXAMPLE_REPRICING = {
  dry_run: true,
  entries: 14,
  list_value: { before: 1.234567891, after: 1.111111 },
  cost: { before: 1.234567891, after: 1.111111 },
  models: [{ model: 'claude-sonnet-4-5', entries: 14, list_value: { before: 1.234567891, after: 1.111111 } }],
  complete: true,
  next_page: null,
}

export const EXAMPLE_PLACED_ENTRY: TokenEntry = {
  ...EXAMPLE_ENTRY,
  placement: { ...EXAMPLE_ENTRY.placement, by: 'manual' },
  updated_at: '2026-11-20T19:02:11.480Z',
}

export const EXAMPLE_ACTION_RESULTS: TokenEntriesActionResults = {
  dry_run: false,
  done: 1,
  refused: 1,
  cost: 0.0263781,
  unpriced_entries: 0,
  results: [
    { id: 'ent_01a1fa172a0277f3983322718874f2ef', result: 'done', status: 'approved', problem: null },
    {
      id: 'ent_01a1fa172a0277f3983322718874f2ee',
      result: 'refused',
      status: 'billed',
      problem: {
        code: 'wrong_status',
        detail:
          'Cannot approve entry ent_01a1fa172a0277f3983322718874f2ee: it must be submitted, but is billed. Void its bill first.',
      },
    },
  ],
}

export const EXAMPLE_DIVIDED: DividedTokenEntry = {
  entry: EXAMPLE_ENTRY.id,
  cost: EXAMPLE_ENTRY.cost,
  tokens: EXAMPLE_ENTRY.tokens.total,
  parts: [{ ...EXAMPLE_PLACED_ENTRY, division: { entry: EXAMPLE_ENTRY.id, share: 0.7 } }],
  hidden_parts: 1,
}

/** The only page of a list. */
export const pageOfEntry = <Entry>(entry: Entry) => ({
  data: [entry],
  has_more: false,
  next_page: null,
  basis: 'cost' as const,
  searched_to: null,
  deleted: null,
})
