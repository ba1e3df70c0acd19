import { operation, result } from '../../../operations/operation.ts'
import type { OrganizationService } from '../../organization/service.ts'
import { RepricingBody, repricedBody } from '../../prices/service.ts'
import { EXAMPLE_REPRICING } from '../examples.ts'
import { Repricing } from '../schema.ts'
import type { EntriesService } from '../service.ts'
import { readRepricing } from '../valuation/repricing.ts'

/** How long entries are valued within one call: half of what a connection may be silent. */
const REPRICING_BUDGET_MS = 10_000

interface Needs {
  entries: EntriesService
  organization: Pick<OrganizationService, 'settings'>
}

export const repriceTokenEntries = operation({
  id: 'repriceTokenEntries',
  tag: 'Prices',
  method: 'POST',
  path: '/prices/reprice',
  summary: 'Reprice entries',
  description:
    'Recalculates the list value of unpriced entries, or with `all` of every entry that is not locked, from the current prices. Each change is recorded in the entry’s history. A call ends after about ten seconds. If `complete` is false, call again with `next_page` as `page`.',
  allow: { session: ['billing', 'admin'] },
  scope: 'prices:write',
  body: Repricing,
  example: { all: true, starting_at: '2026-11-01T00:00:00Z', dry_run: true },
  answer: result('Entries that changed, or would change.', RepricingBody, EXAMPLE_REPRICING),
  problems: ['database_deadline'],
  run: async ({ entries, organization }: Needs, { party, body }) => {
    const dryRun = body.dry_run ?? false
    const options = { dryRun, by: party.by, budgetMs: REPRICING_BUDGET_MS }
    const requested = readRepricing(body, (await organization.settings()).timeZone)
    const repriced = requested
      ? entries.valuation.reprice(requested, options)
      : entries.valuation.valueUnpriced(options)
    return repricedBody(await repriced, { dryRun })
  },
})
