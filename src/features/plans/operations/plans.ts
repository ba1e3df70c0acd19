import { Type } from '@sinclair/typebox'
import { operation, result, several } from '../../../operations/operation.ts'
import { flagParameter, textParameter } from '../../../operations/parameters.ts'
import { lastPage } from '../../../schema/lists.ts'
import { CHANGING, READING } from '../../funding/contract.ts'
import { EXAMPLE_FUNDING_PREVIEW } from '../../funding/examples.ts'
import { FundingPreviewBody } from '../../funding/schema.ts'
import { COMMON_PLANS } from '../common.ts'
import {
  EXAMPLE_ALLOCATED_PERIOD,
  EXAMPLE_COMMON_PLAN,
  EXAMPLE_LEDGER,
  EXAMPLE_LOADED_PLANS,
  EXAMPLE_NEW_PLAN,
  EXAMPLE_PERIOD_DETAIL,
  EXAMPLE_PLAN,
  EXAMPLE_PLAN_FILE,
  EXAMPLE_VALUE,
} from '../examples.ts'
import { readLedgerList, readPeriodList, readRemoval } from '../query.ts'
import {
  CommonPlanList,
  dryRun,
  LoadedPlans,
  NewPlan,
  PeriodClosing,
  PeriodDetail,
  PeriodList,
  PeriodReopening,
  PlanBody,
  PlanChange,
  PlanEnd,
  PlanFile,
  PlanLedger,
  PlanList,
  PlanLoad,
  PlanValueReport,
} from '../schema.ts'
import type { PlansService } from '../service.ts'

interface Needs {
  plans: PlansService
}

const params = { id: 'Id (pln_…) or name of the plan.' }
const one = { object: 'pln', params } as const

const PLAN = result('The plan.', PlanBody, EXAMPLE_PLAN)

const CHANGED = result(
  'The plan, or with `dry_run` what would change.',
  Type.Union([PlanBody, FundingPreviewBody]),
  EXAMPLE_PLAN,
)

const PREVIEWS =
  'With `dry_run`, it counts the entries that would be paid for by something else, as `POST /funding-rules/preview` does.'

const CUTS = 'If it cuts a period, `prorate` must say whether the fee of that period is charged by days or in full.'

export const listPlans = operation({
  ...READING,
  id: 'listPlans',
  method: 'GET',
  path: '/plans',
  summary: 'List plans',
  description: 'All plans, by name, with what their current period costs.',
  answer: several('The plans.', PlanList, EXAMPLE_PLAN),
  run: async ({ plans }: Needs) => lastPage(await plans.listPlans()),
})

export const addPlan = operation({
  ...CHANGING,
  id: 'addPlan',
  method: 'POST',
  path: '/plans',
  summary: 'Add a plan',
  description:
    '`like` takes the terms of a common plan, without a connection to it: nothing changes when its price does. ' +
    PREVIEWS,
  body: NewPlan,
  example: EXAMPLE_NEW_PLAN,
  answer: [
    { ...PLAN, status: 201, description: 'The plan was added.' },
    result('With `dry_run`: what would change.', FundingPreviewBody, EXAMPLE_FUNDING_PREVIEW),
  ],
  problems: ['already_exists', 'database_deadline'],
  run: ({ plans }: Needs, { party: { by }, body: { dry_run: dryRun, ...plan } }) => plans.addPlan(plan, { by, dryRun }),
})

export const exportPlans = operation({
  ...READING,
  id: 'exportPlans',
  method: 'GET',
  path: '/plans/export',
  summary: 'Export plans',
  description: 'All plans with all of their terms, as a body of `POST /plans/load`.',
  answer: result('The plans.', PlanFile, EXAMPLE_PLAN_FILE),
  run: ({ plans }: Needs) => plans.exportPlans(),
})

const loadPlans = operation({
  ...CHANGING,
  id: 'loadPlans',
  method: 'POST',
  path: '/plans/load',
  summary: 'Load plans',
  description:
    'Adds the plans, and replaces those with the same name as a whole. Plans that are not named stay as they are.',
  body: PlanLoad,
  example: EXAMPLE_PLAN_FILE,
  answer: result('What was done, or would be.', LoadedPlans, EXAMPLE_LOADED_PLANS),
  problems: ['database_deadline', 'period_closed'],
  run: ({ plans }: Needs, { party: { by }, body: { dry_run: dryRun, ...file } }) =>
    plans.loadPlans(file, { by, dryRun }),
})

export const getPlan = operation({
  ...READING,
  ...one,
  id: 'getPlan',
  method: 'GET',
  path: '/plans/:id',
  summary: 'Get a plan',
  answer: PLAN,
  run: ({ plans }: Needs, call) => plans.getPlan(call.params.id),
})

export const changePlan = operation({
  ...CHANGING,
  ...one,
  id: 'changePlan',
  method: 'PATCH',
  path: '/plans/:id',
  summary: 'Update a plan',
  description: `Absent fields stay unchanged. New terms apply from a day on, with which a period begins. ${CUTS} ${PREVIEWS}`,
  body: PlanChange,
  example: { from: '2026-11-17', fee: 200 },
  answer: CHANGED,
  problems: ['already_exists', 'database_deadline', 'period_closed'],
  run: ({ plans }: Needs, { params: { id }, party: { by }, body: { dry_run: dryRun, ...change } }) =>
    plans.changePlan(id, change, { by, dryRun }),
})

export const endPlan = operation({
  ...CHANGING,
  ...one,
  id: 'endPlan',
  method: 'POST',
  path: '/plans/:id/end',
  summary: 'End a plan',
  description: `It is kept with its periods. ${CUTS} ${PREVIEWS}`,
  body: PlanEnd,
  example: { on: '2026-12-16' },
  answer: { ...CHANGED, example: { ...EXAMPLE_PLAN, ends_on: '2026-12-16' } },
  problems: ['database_deadline', 'period_closed'],
  run: ({ plans }: Needs, { params: { id }, party: { by }, body: { dry_run: dryRun, ...end } }) =>
    plans.endPlan(id, end, { by, dryRun }),
})

export const removePlanVersion = operation({
  ...CHANGING,
  object: 'pln',
  params: { ...params, from: 'The first day of the terms.' },
  id: 'removePlanVersion',
  method: 'DELETE',
  path: '/plans/:id/versions/:from',
  summary: 'Remove terms of a plan',
  description: `The terms before them apply instead. ${CUTS} ${PREVIEWS}`,
  query: {
    prorate: flagParameter('Whether a period that is cut without these terms is charged by days.'),
    dry_run: flagParameter(dryRun.description!),
  },
  answer: CHANGED,
  problems: ['database_deadline', 'period_closed'],
  run: ({ plans }: Needs, { params: { id, from }, query, party: { by } }) => {
    const { prorate, dryRun } = readRemoval(query)
    return plans.removeVersion(id, { from, prorate }, { by, dryRun })
  },
})

export const listPlanPeriods = operation({
  ...READING,
  id: 'listPlanPeriods',
  method: 'GET',
  path: '/plans/:id/periods',
  summary: 'List periods of a plan',
  description: 'Those that contain any of the days, the newest first, without pagination.',
  params,
  query: {
    from: textParameter('First day, such as 2026-01-01. Default: a year before the last one.'),
    to: textParameter('Last day. Default: today.'),
  },
  answer: several('The periods.', PeriodList, EXAMPLE_ALLOCATED_PERIOD),
  run: async ({ plans }: Needs, { params: { id }, query }) =>
    lastPage(await plans.listPeriods(id, readPeriodList(query))),
})

const ofPeriod = { ...one, params: { ...params, first_day: 'First day of the period, such as 2026-10-17.' } } as const

const PERIOD = result('The period, and the shares of its people.', PeriodDetail, EXAMPLE_PERIOD_DETAIL)

export const getPlanPeriod = operation({
  ...READING,
  ...ofPeriod,
  id: 'getPlanPeriod',
  method: 'GET',
  path: '/plans/:id/periods/:first_day',
  summary: 'Get a period of a plan',
  description: 'How its fee was allocated, and each person’s share.',
  answer: PERIOD,
  run: ({ plans }: Needs, call) => plans.getPeriod(call.params.id, call.params.first_day),
})

export const closePlanPeriod = operation({
  ...CHANGING,
  ...ofPeriod,
  id: 'closePlanPeriod',
  method: 'POST',
  path: '/plans/:id/periods/:first_day/close',
  summary: 'Close a period of a plan',
  description:
    'Freezes its shares. Entries that arrive late, are voided or are corrected afterwards are settled by corrections in a later period, when the next period is closed. Periods are closed in order, once they have ended.',
  body: PeriodClosing,
  example: {},
  answer: PERIOD,
  problems: ['wrong_status', 'unpriced_entries'],
  run: ({ plans }: Needs, call) => plans.closePeriod(call.params.id, call.params.first_day, call.body, call.party),
})

export const reopenPlanPeriod = operation({
  ...CHANGING,
  ...ofPeriod,
  id: 'reopenPlanPeriod',
  method: 'POST',
  path: '/plans/:id/periods/:first_day/reopen',
  summary: 'Reopen a period of a plan',
  description:
    'Its shares follow its entries again, except for those that were billed. Its corrections are voided, unless they are on a bill.',
  body: PeriodReopening,
  example: { reason: 'The vendor sent another invoice.' },
  answer: PERIOD,
  problems: ['wrong_status'],
  run: ({ plans }: Needs, call) => plans.reopenPeriod(call.params.id, call.params.first_day, call.body, call.party),
})

export const getPlanLedger = operation({
  ...READING,
  id: 'getPlanLedger',
  method: 'GET',
  path: '/plans/periods',
  summary: 'List periods of all plans',
  description:
    'Periods that contain any of the days, by plan, with how their fees were allocated, and the totals. Fees for unused seats are not on any entry, so a report by allocated cost shows less than what was paid.',
  query: {
    from: textParameter('First day, such as 2026-11-01. Default: 30 days before the last one.'),
    to: textParameter('Last day. Default: today.'),
    unclosed: flagParameter(
      'Whether to list only periods with entries that have ended and are not closed. Default for `from` is then their first day.',
    ),
  },
  answer: result('The periods.', PlanLedger, EXAMPLE_LEDGER),
  run: ({ plans }: Needs, { query }) => plans.readLedger(readLedgerList(query)),
})

export const reportPlans = operation({
  id: 'reportPlans',
  tag: 'Reports',
  method: 'GET',
  path: '/reports/plans',
  summary: 'Report whether plan seats pay for themselves',
  description:
    'Of each plan, period and person: the list value of what the plan paid for, and the fee of the seat. For those who see fees: billing, admins, and leads if the setting `leads_see_fees` is on, who see the shares of the entries that they see.',
  allow: ['read', 'session'],
  scope: 'plans:read',
  query: {
    from: textParameter('First day, such as 2026-11-01. Default: 30 days before the last one.'),
    to: textParameter('Last day. Default: today.'),
  },
  answer: result('The periods.', PlanValueReport, EXAMPLE_VALUE),
  problems: ['fees_hidden', 'database_deadline'],
  run: ({ plans }: Needs, { viewer, query }) => plans.readValue(viewer, readPeriodList(query)),
})

export const listCommonPlans = operation({
  ...READING,
  id: 'listCommonPlans',
  method: 'GET',
  path: '/common-plans',
  summary: 'List common plans',
  description:
    'Plans that many have, with the source and the day of each price, without tax. Check the price before you use one.',
  answer: several('The common plans.', CommonPlanList, EXAMPLE_COMMON_PLAN),
  run: async () => lastPage([...COMMON_PLANS]),
})

export const planOperations = [
  listPlans,
  addPlan,
  exportPlans,
  loadPlans,
  getPlan,
  changePlan,
  endPlan,
  removePlanVersion,
  listPlanPeriods,
  getPlanLedger,
  getPlanPeriod,
  closePlanPeriod,
  reopenPlanPeriod,
  reportPlans,
  listCommonPlans,
] as const
