import { Elysia } from 'elysia'
import { access, actorOf } from '../../http/access.ts'
import { documented } from '../../http/documentation.ts'
import { EXAMPLE_EXPLANATION, EXAMPLE_NEW_RULE, EXAMPLE_RULE, EXAMPLE_RULE_TEST } from './examples.ts'
import { ExplanationBody, NewRule, RuleBody, RuleChange, RuleList, RuleOrder, RuleTest } from './schema.ts'
import {
  explanationBody,
  type ListedRule,
  type PlacementService,
  readNewRule,
  readSample,
  ruleBody,
} from './service.ts'

const tag = 'Placement rules'

/** A rule may name people and clients, so members do not read them. */
const MAY_READ = { read: ['billing', 'admin'], session: ['billing', 'admin'] } as const
const MAY_TEST = { session: ['billing', 'admin'] } as const
/** A rule could draw everyone's entries into someone's sight (docs/design/concepts.md, "Roles"). */
const MAY_CHANGE = { session: ['admin'] } as const

const path = { id: 'Id (rul_…) or name of the rule.' }
const answer = { 200: { description: 'The rule.', schema: RuleBody, example: EXAMPLE_RULE } }
const list = {
  description: 'All rules, in evaluation order.',
  schema: RuleList,
  example: { data: [EXAMPLE_RULE], has_more: false, next_page: null },
}

function listBody(rules: ListedRule[]) {
  return { data: rules.map(ruleBody), has_more: false, next_page: null }
}

export const placementRoutes = ({ placement }: { placement: PlacementService }) =>
  new Elysia({ name: 'placement', normalize: false })
    .use(access())
    .get('', async () => listBody(await placement.listRules()), {
      allow: MAY_READ,
      scope: 'rules:read',
      object: 'placement-rules',
      detail: documented({
        id: 'listPlacementRules',
        tag,
        summary: 'List placement rules',
        description: 'Returns all rules, in evaluation order, without pagination.',
        responses: { 200: list },
      }),
    })
    .post(
      '',
      async ({ body, caller, address, set }) => {
        const added = await placement.addRule(actorOf({ caller, address }), readNewRule(body))
        set.status = 201
        set.headers.location = `/api/v1/placement-rules/${added.rule.uid}`
        return ruleBody(added)
      },
      {
        allow: MAY_CHANGE,
        scope: 'rules:write',
        parse: 'report',
        body: NewRule,
        detail: documented({
          id: 'addPlacementRule',
          tag,
          summary: 'Create a placement rule',
          description:
            'The rule applies to new reports only. `warnings` is not empty if the rule is skipped because its project is archived.',
          body: { example: EXAMPLE_NEW_RULE },
          responses: {
            201: {
              description: 'The rule was created.',
              schema: RuleBody,
              headers: ['Location'],
              example: EXAMPLE_RULE,
            },
          },
          problems: ['already_exists'],
        }),
      },
    )
    .put(
      '/order',
      async ({ body, caller, address }) =>
        listBody(await placement.orderRules(actorOf({ caller, address }), body.rules)),
      {
        allow: MAY_CHANGE,
        scope: 'rules:write',
        object: 'placement-rules',
        parse: 'report',
        body: RuleOrder,
        detail: documented({
          id: 'orderPlacementRules',
          tag,
          summary: 'Reorder the placement rules',
          description: 'The body names every rule exactly once. The first rule that matches an entry places it.',
          body: { example: { rules: [EXAMPLE_RULE.id] } },
          responses: { 200: list },
          problems: ['rules_changed'],
        }),
      },
    )
    .post(
      '/test',
      async ({ body: { sample, rule, replaces } }) =>
        explanationBody(
          await placement.testRules(readSample(sample), { unsaved: rule && readNewRule(rule), replaces }),
        ),
      {
        allow: MAY_TEST,
        scope: 'rules:read',
        parse: 'report',
        body: RuleTest,
        detail: documented({
          id: 'testPlacementRules',
          tag,
          summary: 'Test the placement rules with a sample',
          description:
            'Returns the rule that matches the sample, and why earlier rules do not. With `rule`, evaluates as if that rule were saved; with `replaces`, in place of that existing rule. Writes nothing.',
          body: { example: EXAMPLE_RULE_TEST },
          responses: {
            200: { description: 'How the sample is placed.', schema: ExplanationBody, example: EXAMPLE_EXPLANATION },
          },
          problems: ['not_found'],
        }),
      },
    )
    .get('/:id', async ({ params }) => ruleBody(await placement.getRule(params.id)), {
      allow: MAY_READ,
      scope: 'rules:read',
      object: 'rul',
      detail: documented({ id: 'getPlacementRule', tag, summary: 'Get a placement rule', path, responses: answer }),
    })
    .patch(
      '/:id',
      async ({ params, body, caller, address }) =>
        ruleBody(await placement.changeRule(actorOf({ caller, address }), params.id, body)),
      {
        allow: MAY_CHANGE,
        scope: 'rules:write',
        object: 'rul',
        parse: 'report',
        body: RuleChange,
        detail: documented({
          id: 'changePlacementRule',
          tag,
          summary: 'Update a placement rule',
          description:
            'Absent fields stay unchanged. Entries that the rule already placed do not move, and still show the version of the rule that placed them.',
          path,
          body: { example: { enabled: false } },
          responses: answer,
          problems: ['already_exists'],
        }),
      },
    )
    .delete(
      '/:id',
      async ({ params, caller, address, set }) => {
        await placement.removeRule(actorOf({ caller, address }), params.id)
        set.status = 204
      },
      {
        allow: MAY_CHANGE,
        scope: 'rules:write',
        object: 'rul',
        detail: documented({
          id: 'removePlacementRule',
          tag,
          summary: 'Remove a placement rule',
          description: 'Entries that the rule placed do not move, and still show it.',
          path,
          responses: { 204: { description: 'The rule was removed.' } },
        }),
      },
    )
