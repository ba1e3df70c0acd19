import { Elysia, t } from 'elysia'
import { access, viewerOf } from '../../../http/access.ts'
import { documented } from '../../../http/documented.ts'
import { entryFilters } from '../../../http/entry-filters.ts'
import type { EntriesService } from '../service.ts'
import { EXAMPLE_TRIAL, EXAMPLE_TRIAL_ANSWER, RuleTrial, RuleTrialAnswer, readTrial } from '../trying.ts'

export const tryingRoute = ({ entries }: { entries: EntriesService }) =>
  new Elysia({ name: 'trying', normalize: false })
    .use(access())
    .post(
      '/api/v1/placement-rules/test/entries',
      ({ body, query, caller }) => entries.tryRules(viewerOf(caller), readTrial(body, query)),
      {
        allow: { session: ['billing', 'admin'] },
        parse: 'report',
        body: RuleTrial,
        query: t.Object(entryFilters(), { additionalProperties: false }),
        detail: documented({
          id: 'tryPlacementRules',
          tag: 'Placement rules',
          summary: 'Try the placement rules on entries that are there',
          description:
            'On the newest ones, or the newest that the filters of the query let through: which rule would take each, and why the earlier ones do not; with `rule`, as if that one were saved, and with `replaces` in the place of that one. Writes nothing.',
          body: { example: EXAMPLE_TRIAL },
          responses: {
            200: { description: 'A page of entries.', schema: RuleTrialAnswer, example: EXAMPLE_TRIAL_ANSWER },
          },
          problems: ['not_found', 'database_deadline'],
        }),
      },
    )
