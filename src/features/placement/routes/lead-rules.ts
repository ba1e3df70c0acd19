import { Elysia } from 'elysia'
import { access, partyOf } from '../../../http/access.ts'
import { documented } from '../../../http/documentation.ts'
import { EXAMPLE_LEAD_RULE } from '../examples.ts'
import { LeadRuleChange, RuleBody, RuleList } from '../schema.ts'
import { type PlacementService, ruleBody } from '../service.ts'

const tag = 'Placement rules'

/** What a person may see and change is decided by who they lead at that moment. */
const allow = ['session'] as const
const scope = 'people-only'
const path = { id: 'Id of the rule (rul_…).' }

export const leadRuleRoutes = ({ placement }: { placement: PlacementService }) =>
  new Elysia({ name: 'lead-rules', normalize: false })
    .use(access())
    .get(
      '/of-leads',
      async ({ caller, address }) => {
        const rules = await placement.listLeadRules(partyOf({ caller, address }))
        return { data: rules.map(ruleBody), has_more: false, next_page: null }
      },
      {
        allow,
        scope,
        detail: documented({
          id: 'listLeadRules',
          tag,
          summary: 'List the rules of leads',
          description:
            'The rules that leads made without an admin for projects that you lead, in evaluation order, without pagination.',
          responses: {
            200: {
              description: 'The rules.',
              schema: RuleList,
              example: { data: [EXAMPLE_LEAD_RULE], has_more: false, next_page: null },
            },
          },
        }),
      },
    )
    .patch(
      '/of-leads/:id',
      async ({ params, body, caller, address }) =>
        ruleBody(await placement.changeLeadRule(partyOf({ caller, address }), params.id, body)),
      {
        allow,
        scope,
        parse: 'report',
        body: LeadRuleChange,
        detail: documented({
          id: 'changeLeadRule',
          tag,
          summary: 'Update a rule of leads',
          description:
            'For leads of its project, with the setting `lead_rules`. Its repository, project and position stay. Entries that the rule already placed do not move.',
          path,
          body: { example: { ticket: null } },
          responses: { 200: { description: 'The rule.', schema: RuleBody, example: EXAMPLE_LEAD_RULE } },
          problems: ['not_found', 'already_exists', 'rate_limited'],
        }),
      },
    )
    .delete(
      '/of-leads/:id',
      async ({ params, caller, address, set }) => {
        await placement.removeLeadRule(partyOf({ caller, address }), params.id)
        set.status = 204
      },
      {
        allow,
        scope,
        detail: documented({
          id: 'removeLeadRule',
          tag,
          summary: 'Remove a rule of leads',
          description: 'For leads of its project. Entries that the rule placed do not move, and still show it.',
          path,
          responses: { 204: { description: 'The rule was removed.' } },
          problems: ['not_found'],
        }),
      },
    )
