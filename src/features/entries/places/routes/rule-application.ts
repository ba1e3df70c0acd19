import { Elysia, t } from 'elysia'
import { access, actorOf, askerOf } from '../../../../http/access.ts'
import { documented } from '../../../../http/documentation.ts'
import { entryFilters } from '../../../selection/parameters.ts'
import type { SelectionService } from '../../../selection/service.ts'
import type { EntriesService } from '../../service.ts'
import { EXAMPLE_APPLIED } from '../examples.ts'
import { readRuleApplication } from '../rule-application.ts'
import { AppliedRules, RuleApplication } from '../schema.ts'
import { appliedBody } from '../wire.ts'

/** How long entries are moved within one call: half of what a connection may be silent. */
const APPLICATION_BUDGET_MS = 10_000

/** Moves that a dry run lists where nothing is asked for: as many as a page of any list may have. */
const LISTED = 1_000

export const ruleApplicationRoute = ({
  entries,
  selection,
}: {
  entries: EntriesService
  selection: SelectionService
}) =>
  new Elysia({ name: 'rule-application', normalize: false }).use(access()).post(
    '/apply',
    async ({ body, query, caller, address }) => {
      const dryRun = body.dry_run ?? false
      const asked = await selection.read(askerOf(caller), (timeZone) => readRuleApplication(body, query, timeZone))
      const applied = await entries.places.applyRules(asked, {
        dryRun,
        by: actorOf({ caller, address }),
        limit: body.limit ?? (dryRun ? LISTED : 0),
        budgetMs: APPLICATION_BUDGET_MS,
      })
      return appliedBody(applied, { dryRun })
    },
    {
      allow: { session: ['admin'] },
      scope: 'rules:write',
      parse: 'report',
      body: RuleApplication,
      query: t.Object(entryFilters(), { additionalProperties: false }),
      detail: documented({
        id: 'applyPlacementRules',
        tag: 'Placement rules',
        summary: 'Apply placement rules to existing entries',
        description:
          'Places unlocked, unattributed entries; with `rule_placed`, also entries that were placed by a rule. Use the filters of the query to select entries. Entries placed by a person or by a report stay where they are, unless the report named a project or ticket that was unknown then and is known now. A dry run does the same work and rolls it back, so its result is exact. A call ends after about ten seconds, or when it has listed `limit` moves. If `complete` is false, call again with `next_page` as `page` and add up the results.',
        body: { example: { scope: 'unattributed', dry_run: true } },
        responses: {
          200: { description: 'Entries that moved, or would move.', schema: AppliedRules, example: EXAMPLE_APPLIED },
        },
        problems: ['database_deadline'],
      }),
    },
  )
