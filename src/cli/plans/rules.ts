/** `tally plans rules`: what pays for usage if its report does not say so. */
import { type Command, Option } from 'commander'
import { previewFundingRules } from '../../features/entries/operations/funding.ts'
import {
  addFundingRule,
  changeFundingRule,
  getFundingRule,
  listFundingRules,
  orderFundingRules,
  removeFundingRule,
  testFunding,
} from '../../features/funding/operations/rules.ts'
import {
  type FundingExplanation,
  type FundingPreviewBody,
  type FundingPreviewRequest,
  type FundingRuleBody,
  FundingTest,
} from '../../features/funding/schema.ts'
import type { Services } from '../../services.ts'
import { FUNDINGS, fundingSentence, fundingTitle } from '../../shared/funding.ts'
import { CommandError } from '../failures.ts'
import { checked } from '../flags/body.ts'
import { examples } from '../flags/options.ts'
import { addAction, addListing } from '../operations.ts'
import { collectCondition, parsePosition } from '../rules/rule.ts'
import { addSampleFlags, type SampleFlags, sampleOf } from '../rules/test.ts'
import { type Column, print, printJson, printJsonList, printTable } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { DRY_RUN_DOC, printPreview } from './preview.ts'

const subject = 'rule'

const WHEN = {
  flag: '--when <field=pattern>',
  doc: 'condition, such as agent_harness=codex or labels.entrypoint=sdk-*; repeatable, usage must match all; none to match all usage',
  read: collectCondition,
}
const FUNDING = { flag: '--funding <funding>', doc: 'what pays: metered, plan, credits or unknown' }
const PLAN = { flag: '--plan <plan>', doc: 'name or id of the plan, with plan and credits' }
const DRY_RUN = new Option('--dry-run', DRY_RUN_DOC)

const whenText = ({ conditions }: FundingRuleBody) =>
  conditions.map(({ field, matches }) => `${field}=${matches}`).join(' and ') || 'always'

const COLUMNS: Column<FundingRuleBody>[] = [
  { title: '#', of: ({ position }) => String(position), align: 'right' },
  { title: 'NAME', of: ({ name }) => name },
  { title: 'STATE', of: ({ enabled }) => (enabled ? 'enabled' : 'disabled') },
  { title: 'WHEN', of: whenText },
  { title: 'PAID BY', of: ({ funding: kind, plan }) => fundingTitle({ kind, plan }) },
]

function ruleFields(rule: FundingRuleBody): [name: string, value: string][] {
  return [
    ['rule', `${rule.name} (${rule.id})`],
    ['position', String(rule.position)],
    ['state', rule.enabled ? 'enabled' : 'disabled'],
    ['when', whenText(rule)],
    ['paid by', fundingTitle({ kind: rule.funding, plan: rule.plan })],
    ['version', `${rule.version}, changed ${rule.changed_at.slice(0, 10)}`],
  ]
}

/** What a change would do, for a flag that all changes have. */
const preview = (services: Services, call: object, body: FundingPreviewRequest) =>
  previewFundingRules.run(services, { ...call, body } as never) as Promise<never>

function shown(result: FundingRuleBody | FundingPreviewBody) {
  if (!('changes' in result)) return ruleFields(result)
  printPreview(result)
  return undefined
}

export function addPlansRulesCommands(plans: Command): void {
  const rules = plans
    .command('rules')
    .description('List, add, move and test funding rules, which say what pays for usage')
    .addHelpText(
      'after',
      examples(
        "tally plans rules add 'CI uses the API' --when 'labels.entrypoint=sdk-*' --funding metered",
        "tally plans rules add 'Everything else' --funding metered --dry-run",
      ),
    )
  addListing(rules, listFundingRules, {
    description: 'List the rules in the order in which they are tried',
    columns: COLUMNS,
    examples: ['tally plans rules list'],
    howToAdd: 'Add one with `tally plans rules add`.',
  })
  addAction(rules, getFundingRule, {
    name: 'show',
    description: 'Show one rule',
    subject,
    examples: ["tally plans rules show 'CI uses the API'"],
    show: ruleFields,
  })
  addAction(rules, addFundingRule, {
    name: 'add',
    description: 'Add a rule after the others; unlocked entries are decided again',
    positional: ['name'],
    flags: {
      conditions: WHEN,
      funding: FUNDING,
      plan: PLAN,
      enabled: { flag: '--disabled', doc: 'add the rule without enabling it', value: false },
      position: { flag: '--position <number>', doc: 'position in the order, from 1' },
    },
    options: [DRY_RUN],
    examples: [
      "tally plans rules add 'CI uses the API' --when 'labels.entrypoint=sdk-*' --funding metered",
      "tally plans rules add 'Codex by Pro' --when agent_harness=codex --funding plan --plan 'ChatGPT Pro' --dry-run",
    ],
    run: (services, call, { dryRun }: { dryRun?: boolean }) =>
      dryRun ? preview(services, call, { rule: call.body }) : addFundingRule.run(services, call),
    show: shown,
  })
  addAction(rules, changeFundingRule, {
    name: 'change',
    description: 'Change a rule; unlocked entries are decided again',
    subject,
    flags: {
      name: { flag: '--name <name>', doc: 'new name' },
      conditions: WHEN,
      funding: FUNDING,
      plan: PLAN,
      enabled: [],
    },
    options: [DRY_RUN],
    examples: ["tally plans rules change 'CI uses the API' --when 'labels.entrypoint=ci'"],
    run: async (services, call, { dryRun }: { dryRun?: boolean }) => {
      if (!dryRun) return changeFundingRule.run(services, call)
      const { name, conditions, funding, plan, enabled } = await getFundingRule.run(services, call as never)
      const before = { name, conditions, funding, plan: plan?.id ?? null, enabled }
      return preview(services, call, { rule: { ...before, ...call.body }, replaces: call.params.id })
    },
    show: shown,
  })
  for (const [name, enabled, description] of [
    ['enable', true, 'Enable a rule'],
    ['disable', false, 'Disable a rule without removing it'],
  ] as const) {
    addAction(rules, changeFundingRule, {
      name,
      description,
      subject,
      body: { enabled },
      examples: [`tally plans rules ${name} 'CI uses the API'`],
      show: ruleFields,
    })
  }
  addAction(rules, removeFundingRule, {
    name: 'remove',
    description: 'Remove a rule; unlocked entries are decided again',
    subject,
    examples: ["tally plans rules remove 'CI uses the API' --yes"],
    first: getFundingRule,
    confirm: (_, { name }) => `Remove the funding rule '${name}'?`,
    show: (_, named) => `Removed the funding rule '${named}'.`,
  })
  addMoveCommand(rules)
  addTestCommand(rules)
}

interface TestFlags extends CommandFlags, SampleFlags {
  day?: string
  saidFunding?: FundingTest['funding']
  saidPlan?: string
}

function addTestCommand(rules: Command): void {
  addSampleFlags(
    rules.command('test').description('Show what would pay for a session, and why earlier rules do not decide'),
  )
    .option('--day <date>', 'day of the session; today by default')
    .addOption(new Option('--said-funding <funding>', 'what the report says of its funding').choices(FUNDINGS))
    .option('--said-plan <plan>', 'what the report says of its plan')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      examples('tally plans rules test --harness codex --manager ada@example.com --label entrypoint=sdk-cli'),
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<TestFlags>()
      const { day, saidFunding: funding, saidPlan: plan } = flags
      const asked = await checked(FundingTest, {
        sample: sampleOf(flags),
        ...(day !== undefined && { day }),
        ...(funding !== undefined && { funding }),
        ...(plan !== undefined && { plan }),
      })
      const found = await withServices(flags, (services) => testFunding.run(services, { body: asked } as never))
      if (flags.json) printJson(found)
      else printExplanation(found)
    })
}

function printExplanation(explanation: FundingExplanation): void {
  const { funding: kind, plan, reason, note, steps } = explanation
  const rule = steps.at(-1)?.rule ?? null
  const funding = { kind, plan, reason, note, rule, reported_plan: null, metered_share: null }
  print(`${fundingTitle(funding)}. ${fundingSentence(funding)}`)
  for (const { rule, verdict, failed } of steps) {
    const why = failed.map(({ field, matches, value }) => `${field} is ${value ?? 'absent'}, not ${matches}`)
    print(`${rule.name}: ${why.join('; ') || verdict.replaceAll('_', ' ')}`)
  }
}

function addMoveCommand(rules: Command): void {
  rules
    .command('move')
    .description('Move a rule in the order; the first matching rule decides')
    .argument('<rule>', 'name or id (frl_…) of the rule')
    .addOption(new Option('--to <number>', 'new position, from 1').argParser(parsePosition))
    .option('--json', 'print JSON')
    .addHelpText('after', examples("tally plans rules move 'CI uses the API' --to 1"))
    .action(async (named: string, _flags, command: Command) => {
      const flags = command.optsWithGlobals<CommandFlags & { to?: number }>()
      const { to } = flags
      if (to === undefined) throw new CommandError('No position given. Use --to.', 2)
      const { data } = await withServices(flags, async (services, { by }) => {
        const { funding } = services
        const { rule } = await funding.getFundingRule(named)
        const others = (await funding.listFundingRules())
          .map((listed) => listed.rule.uid)
          .filter((id) => id !== rule.uid)
        const call = { party: { by }, body: { rules: others.toSpliced(to - 1, 0, rule.uid) } }
        return orderFundingRules.run(services, call as never)
      })
      if (flags.json) printJsonList(data)
      else printTable(COLUMNS, data)
    })
}
