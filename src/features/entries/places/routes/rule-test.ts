import { Elysia, t } from 'elysia'
import { access, askerOf, viewerOf } from '../../../../http/access.ts'
import { documented } from '../../../../http/documentation.ts'
import { entryFilters } from '../../../selection/parameters.ts'
import type { SelectionService } from '../../../selection/service.ts'
import type { EntriesService } from '../../service.ts'
import { EXAMPLE_TRIAL, EXAMPLE_TRIAL_ANSWER } from '../examples.ts'
import { readTrial } from '../rule-test.ts'
import { RuleTrial, RuleTrialAnswer } from '../schema.ts'

export const ruleTestRoute = ({ entries, selection }: { entries: EntriesService; selection: SelectionService }) =>
  new Elysia({ name: 'rule-test', normalize: false }).use(access()).post(
    '/test/entries',
    async ({ body, query, caller }) => {
      const trial = await selection.read(askerOf(caller), (timeZone) => readTrial(body, query, timeZone))
      return entries.places.tryRules(viewerOf(caller), trial)
    },
    {
      allow: { session: ['billing', 'admin'] },
      scope: 'rules:read',
      parse: 'report',
      body: RuleTrial,
      query: t.Object(entryFilters(), { additionalProperties: false }),
      detail: documented({
        id: 'tryPlacementRules',
        tag: 'Placement rules',
        summary: 'Test placement rules on existing entries',
        description:
          'Shows which rule would match each of the newest entries, or the newest entries that match the filters of the query, and why earlier rules do not. With `rule`, the test includes an unsaved rule; with `replaces`, it takes the place of the given rule. Nothing is saved.',
        body: { example: EXAMPLE_TRIAL },
        responses: {
          200: { description: 'A page of entries.', schema: RuleTrialAnswer, example: EXAMPLE_TRIAL_ANSWER },
        },
        problems: ['not_found', 'database_deadline'],
      }),
    },
  )
