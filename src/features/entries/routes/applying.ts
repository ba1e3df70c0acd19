import { Elysia, t } from 'elysia'
import { access, actorOf } from '../../../http/access.ts'
import { documented } from '../../../http/documented.ts'
import { entryFilters } from '../../../http/entry-filters.ts'
import { AppliedRules, appliedBody, EXAMPLE_APPLIED, RuleApplication } from '../applied-body.ts'
import { readApplying } from '../applying.ts'
import type { EntriesService } from '../service.ts'

/** How long entries are moved within one call: half of what a connection may be silent. */
const APPLYING_BUDGET_MS = 10_000

/** Moves that a dry run lists where nothing is asked for: as many as a page of any list may have. */
const LISTED = 1_000

export const applyingRoute = ({ entries }: { entries: EntriesService }) =>
  new Elysia({ name: 'applying', normalize: false }).use(access()).post(
    '/api/v1/placement-rules/apply',
    async ({ body, query, caller, address }) => {
      const dryRun = body.dry_run ?? false
      const applied = await entries.applyRules(readApplying(body, query), {
        dryRun,
        by: actorOf({ caller, address }),
        limit: body.limit ?? (dryRun ? LISTED : 0),
        budgetMs: APPLYING_BUDGET_MS,
      })
      return appliedBody(applied, { dryRun })
    },
    {
      allow: { session: ['admin'] },
      parse: 'report',
      body: RuleApplication,
      query: t.Object(entryFilters(), { additionalProperties: false }),
      detail: documented({
        id: 'applyPlacementRules',
        tag: 'Placement rules',
        summary: 'Ask the rules about entries that are there already',
        description:
          'Moves the unlocked entries that nothing placed, or with `rule_placed` also those that rules placed; the filters of the query narrow them. What a person placed or a report named stays, but for a name that was unknown then and is known now. A dry run does the same and takes it back, so it says exactly what would happen. A call ends after about ten seconds or with the last move that it may list: where `complete` is false, call again with the `next_page` as `page`, and add the answers up.',
        body: { example: { scope: 'unattributed', dry_run: true } },
        responses: {
          200: { description: 'What moved, or would move.', schema: AppliedRules, example: EXAMPLE_APPLIED },
        },
        problems: ['database_deadline'],
      }),
    },
  )
