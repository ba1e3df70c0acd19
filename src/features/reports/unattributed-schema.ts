/** Groups of unattributed entries in the API. */
import { type Static, Type } from '@sinclair/typebox'
import { array, component, integer, money, object, oneOf, orNull, text } from '../../schema/types.ts'
import { UnpricedModel } from './schema.ts'

const textOrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description })
const { entries, tokens, first_at, last_at, list } = UnpricedModel.properties
const unpriced = integer('Number of unpriced entries, which `cost` excludes.', { minimum: 0 })
const cost = orNull(money('Total cost; null if no cost is known.'))

const Condition = object({ field: Type.String(), matches: Type.String() })

export const UnattributedGroup = component('UnattributedGroup', {
  name: text('Name of the group.', { examples: ['acme/web'] }),
  entries,
  unpriced_entries: unpriced,
  tokens,
  cost,
  first_at,
  last_at,
  repository: textOrNull('The label `repository` of the entries; null if they have none.'),
  agent_manager: Type.Union([object({ id: Type.String(), name: Type.String() }), Type.Null()], {
    description: 'The person, if the same for all entries.',
  }),
  agent_harness: textOrNull('The harness, if the same for all entries.'),
  agent_name: textOrNull('The agent, if the same for all entries.'),
  model: textOrNull('The model, if the same for all entries.'),
  common: array(
    'Values that all entries share, as conditions of a rule. For branches, also a common prefix.',
    Condition,
  ),
  rule: object('A rule that matches the group. Add a project and send it to `POST /placement-rules`.', {
    name: Type.String(),
    conditions: Type.Array(Condition),
  }),
  suggestion: Type.Union(
    [
      object({
        project: Type.Union([object({ id: Type.String(), key: Type.String(), name: Type.String() }), Type.Null()], {
          description: 'Null if no project is known for the ticket.',
        }),
        ticket: textOrNull('Key of a ticket, which may not exist yet; null to suggest only the project.'),
        from: oneOf(['branch', 'summary', 'repository'], 'What names it.'),
      }),
      Type.Null(),
    ],
    {
      description:
        'Where all entries of the group may belong: the known ticket or project that their branches or summaries name, or the one project that has the repository.',
    },
  ),
  branch_pattern: textOrNull(
    'A condition of a rule on `labels.branch` whose named group `ticket` is the key of the ticket, if branches name tickets of just one project.',
  ),
  example: text('ID of the entry that arrived last.'),
  list,
})
export type UnattributedGroup = Static<typeof UnattributedGroup>

export const UnattributedReport = component('UnattributedReport', {
  totals: object('Totals of all groups, on every page.', {
    groups: Type.Integer(),
    entries,
    unpriced_entries: unpriced,
    cost,
  }),
  placed_on_nothing: object('Entries that people removed from every project on purpose. They are not in any group.', {
    entries,
    cost,
  }),
  data: Type.Array(UnattributedGroup),
  has_more: Type.Boolean(),
  next_page: Type.Union([Type.String(), Type.Null()], {
    description: 'Send it as `page` with the same parameters to get the next page.',
  }),
})
export type UnattributedReport = Static<typeof UnattributedReport>

const EXAMPLE_CONDITION = { field: 'labels.repository', matches: 'acme/web' }

export const EXAMPLE_UNATTRIBUTED: UnattributedReport = {
  totals: { groups: 1, entries: 2, unpriced_entries: 0, cost: 0.0527562 },
  placed_on_nothing: { entries: 0, cost: null },
  data: [
    {
      name: 'acme/web',
      entries: 2,
      unpriced_entries: 0,
      tokens: { input: 1044, output: 456, cache_read: 41964, cache_write: 6132, cache_write_1h: 1200, total: 50796 },
      cost: 0.0527562,
      first_at: '2026-11-20T17:53:04.000Z',
      last_at: '2026-11-20T18:40:12.000Z',
      repository: 'acme/web',
      agent_manager: { id: 'usr_01a1fa172a0277f3983322718874f2e0', name: 'Ada' },
      agent_harness: 'claude-code',
      agent_name: 'reviewer',
      model: 'claude-sonnet-4-5',
      common: [{ field: 'labels.branch', matches: 'feature/ACME-*' }, EXAMPLE_CONDITION],
      rule: { name: 'acme/web', conditions: [EXAMPLE_CONDITION] },
      suggestion: {
        project: { id: 'prj_01a1fa172a0277f3983322718874f2e1', key: 'ACME', name: 'Acme shop' },
        ticket: null,
        from: 'branch',
      },
      branch_pattern: '/(?:^|[^a-z0-9])(?<ticket>acme-[0-9]+)/i',
      example: 'ent_01a1fa172a0277f3983322718874f2ef',
      list: '/api/v1/token-entries?superseded=false&status=submitted&status=approved&status=rejected&status=billed&label=repository%3Aacme%2Fweb&placed=none',
    },
  ],
  has_more: false,
  next_page: null,
}
