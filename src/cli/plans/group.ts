import type { Command } from 'commander'
import type { FundingPreviewBody } from '../../features/funding/schema.ts'
import {
  addPlan,
  changePlan,
  closePlanPeriod,
  endPlan,
  exportPlans,
  getPlan,
  getPlanLedger,
  getPlanPeriod,
  listCommonPlans,
  listPlanPeriods,
  listPlans,
  removePlanVersion,
  reopenPlanPeriod,
} from '../../features/plans/operations/plans.ts'
import type { AllocatedPeriod, PeriodDetail, PlanBody } from '../../features/plans/schema.ts'
import { examples } from '../flags/options.ts'
import { addAction, addListing } from '../operations.ts'
import { countText, exactText, inDollars } from '../terminal/numbers.ts'
import { type Column, print, printJson, printTable } from '../terminal/print.ts'
import { addPlansLoadCommand } from './load.ts'
import { allowanceText, coversText, feeText, holderText, PLAN_FLAGS, PRORATE, periodText, planFields } from './plan.ts'
import { DRY_RUN_DOC, previewText, printPreview } from './preview.ts'
import { addPlansRulesCommands } from './rules.ts'

const subject = 'plan'

const PERIOD_COLUMNS: Column<AllocatedPeriod>[] = [
  { title: 'FROM', of: ({ from }) => from },
  { title: 'TO', of: ({ to }) => to ?? '' },
  { title: 'SEATS', align: 'right', of: ({ seats }) => String(seats) },
  { title: 'FEE', align: 'right', of: ({ fee, currency }) => `${exactText(fee)} ${currency}` },
  { title: 'IN DOLLARS', align: 'right', of: ({ fee_usd }) => inDollars(fee_usd) },
  { title: 'ALLOCATED', align: 'right', of: ({ allocated }) => inDollars(allocated) },
  { title: 'UNUSED', align: 'right', of: ({ unused }) => inDollars(unused) },
  { title: 'PENDING', align: 'right', of: ({ pending }) => inDollars(pending) },
  { title: 'STATE', of: ({ state }) => state },
  { title: 'LATE', rank: 1, align: 'right', of: ({ late_entries }) => (late_entries ? countText(late_entries) : '') },
  {
    title: 'UNPRICED',
    rank: 1,
    align: 'right',
    of: ({ unpriced_entries }) => (unpriced_entries ? countText(unpriced_entries) : ''),
  },
]

function showPeriod(period: PeriodDetail): undefined {
  printTable(PERIOD_COLUMNS, [period])
  const { entries_cost: cost, charge, corrections } = period
  print(
    [
      `Allocated cost of its entries: ${inDollars(cost)}`,
      ...(charge === 0 ? [] : [`of which ${inDollars(charge)} charged in addition to the fee`]),
      ...(corrections === 0 ? [] : [`and corrections in later periods: ${inDollars(corrections)}`]),
    ].join(', '),
  )
  print('')
  printTable(PERSON_COLUMNS, period.people)
}

const PERSON_COLUMNS: Column<PeriodDetail['people'][number]>[] = [
  { title: 'PERSON', of: ({ name }) => name },
  { title: 'ENTRIES', align: 'right', of: ({ entries }) => countText(entries) },
  { title: 'LIST VALUE', align: 'right', of: ({ list_value }) => inDollars(list_value) },
  { title: 'SHARE', align: 'right', of: ({ share }) => inDollars(share) },
  { title: 'CORRECTIONS', align: 'right', of: ({ corrections }) => inDollars(corrections) },
  { title: 'CHARGE', align: 'right', of: ({ charge }) => inDollars(charge) },
]

const DRY_RUN = { dry_run: { flag: '--dry-run', doc: DRY_RUN_DOC, value: true } }

function shown(changed: PlanBody | FundingPreviewBody) {
  if (!('changes' in changed)) return planFields(changed)
  printPreview(changed)
  return undefined
}

/** The same command as a dry run. */
const previewRemoval = {
  ...removePlanVersion,
  run: (services, call) => removePlanVersion.run(services, { ...call, query: { ...call.query, dry_run: 'true' } }),
} satisfies typeof removePlanVersion

export function addPlansCommands(program: Command): void {
  const plans = program
    .command('plans')
    .description('Manage plans: how much people pay for subscriptions and credits, and who uses them')
    .addHelpText(
      'after',
      examples(
        'tally plans common',
        'tally plans add --like claude-max --person ada@example.com --from 2026-10-17',
        "tally plans change 'Claude Max' --fee 200 --from 2026-11-17",
      ),
    )
  addListing(plans, listPlans, {
    description: 'List plans by name, with what their current period costs',
    columns: [
      { title: 'NAME', of: ({ name }) => name },
      { title: 'PRODUCT', rank: 1, of: ({ product }) => product },
      { title: 'USED BY', of: holderText },
      { title: 'STATE', of: ({ state }) => state },
      { title: 'FEE', of: ({ versions: [terms] }) => feeText(terms!) },
      { title: 'CURRENT PERIOD', of: ({ current_period }) => (current_period ? periodText(current_period) : '') },
      { title: 'ID', rank: 2, of: ({ id }) => id },
    ],
    howToAdd: 'Add one with `tally plans add`.',
  })
  addAction(plans, getPlan, {
    name: 'show',
    description: 'Show a plan: its terms, people and current period',
    subject,
    examples: ["tally plans show 'Claude Max'"],
    show: planFields,
  })
  addAction(plans, listPlanPeriods, {
    name: 'periods',
    description: 'List the periods of a plan and what they cost, newest first',
    subject,
    flags: { from: '--from <day>', to: '--to <day>' },
    examples: ["tally plans periods 'Claude Max' --from 2026-01-01"],
    show: ({ data }) => void printTable(PERIOD_COLUMNS, data),
  })
  addAction(plans, getPlanLedger, {
    name: 'ledger',
    description: 'List the periods of all plans and how their fees were allocated',
    flags: { from: '--from <day>', to: '--to <day>' },
    examples: ['tally plans ledger --from 2026-11-01 --to 2026-11-30'],
    show: ({ data, fee_usd, allocated, unused, pending }) => {
      printTable([{ title: 'PLAN', of: ({ plan }) => plan.name }, ...PERIOD_COLUMNS], data)
      print(
        `Fees ${inDollars(fee_usd)}: ${inDollars(allocated)} allocated, ${inDollars(unused)} unused, ${inDollars(pending)} pending.`,
      )
    },
  })
  addAction(plans, getPlanPeriod, {
    name: 'period',
    description: 'Show a period of a plan: how its fee was allocated, and each person’s share',
    subject: [subject, 'first day'],
    examples: ["tally plans period 'Claude Max' 2026-10-17"],
    show: showPeriod,
  })
  addAction(plans, closePlanPeriod, {
    name: 'close',
    description: 'Close a period that has ended, which freezes its shares',
    subject: [subject, 'first day'],
    flags: { leave_unpriced: '--leave-unpriced' },
    confirm: (firstDay) => `Close the period from ${firstDay}?`,
    examples: ["tally plans close 'Claude Max' 2026-10-17"],
    show: showPeriod,
  })
  addAction(plans, reopenPlanPeriod, {
    name: 'reopen',
    description: 'Reopen a closed period, and void its corrections',
    subject: [subject, 'first day'],
    confirm: (firstDay) => `Reopen the period from ${firstDay}, and void its corrections?`,
    examples: ["tally plans reopen 'Claude Max' 2026-10-17 --reason 'The vendor sent another invoice'"],
    show: showPeriod,
  })
  addAction(plans, addPlan, {
    name: 'add',
    description: 'Add a plan, with the terms of a common one or your own',
    flags: {
      ...PLAN_FLAGS,
      like: '--like <code>',
      from: { flag: '--from <date>', doc: 'first day, with which its periods begin' },
      ...DRY_RUN,
    },
    examples: [
      'tally plans add --like claude-max --person ada@example.com --from 2026-10-17',
      'tally plans add --vendor OpenAI --product "ChatGPT Business" --fee 25 --seats 5 --covers agent_harness=codex --from 2026-11-01',
      'tally plans add --like copilot-pro --fee 9 --currency EUR --exchange-rate 0.92 --person bob@example.com --from 2026-11-01',
    ],
    show: shown,
  })
  addAction(plans, changePlan, {
    name: 'change',
    description: 'Change a plan; its terms change from a day on, with which a period begins',
    subject,
    flags: {
      ...PLAN_FLAGS,
      from: {
        flag: '--from <date>',
        doc: 'the day from which changed terms apply; the first day of terms corrects them',
      },
      prorate: PRORATE,
      ...DRY_RUN,
    },
    examples: [
      "tally plans change 'Claude Max' --fee 200 --from 2026-11-17",
      "tally plans change 'ChatGPT Business' --seats 6 --from 2026-11-20 --prorate yes",
      "tally plans change 'Claude Max' --person bob@example.com",
    ],
    show: shown,
  })
  addAction(plans, removePlanVersion, {
    name: 'remove-terms',
    description: 'Remove the terms of a plan that begin on a day; those before them apply instead',
    subject: [subject, 'from'],
    flags: { prorate: PRORATE, ...DRY_RUN },
    examples: ["tally plans remove-terms 'Claude Max' 2026-11-17"],
    first: previewRemoval,
    confirm: (from, preview) => `${previewText(preview as FundingPreviewBody)} Remove the terms from ${from}?`,
    asks: ({ dryRun }) => !dryRun,
    show: shown,
  })
  addAction(plans, endPlan, {
    name: 'end',
    description: 'End a plan after a day, or continue it with --on none',
    subject,
    flags: {
      on: { flag: '--on <date>', doc: 'the last day; none to let the plan continue' },
      prorate: PRORATE,
      ...DRY_RUN,
    },
    examples: ["tally plans end 'Claude Max' --on 2026-12-16", "tally plans end 'Claude Max' --on none"],
    show: shown,
  })
  addPlansLoadCommand(plans)
  addPlansRulesCommands(plans)
  addAction(plans, exportPlans, {
    name: 'export',
    description: 'Print all plans with all of their terms as JSON, for `tally plans load`',
    examples: ['tally plans export > plans.json'],
    show: (file) => void printJson(file),
  })
  addListing(plans, listCommonPlans, {
    name: 'common',
    description: 'List common plans with the source of each price; check the price before you use one',
    examples: ['tally plans common'],
    plural: 'common plans',
    needsNoDatabase: true,
    columns: [
      { title: 'CODE', of: ({ code }) => code },
      { title: 'PRODUCT', of: ({ product }) => product },
      { title: 'FEE', of: feeText },
      { title: 'COVERS', rank: 1, of: coversText },
      { title: 'INCLUDES', rank: 1, of: (plan) => allowanceText(plan) ?? '' },
      { title: 'AS OF', of: ({ source_day }) => source_day },
      { title: 'NOTE', rank: 2, of: ({ note }) => note ?? '' },
      { title: 'SOURCE', rank: 2, of: ({ source_url }) => source_url },
    ],
    howToAdd: '',
  })
}
