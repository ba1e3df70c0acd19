import { type Command, InvalidArgumentError } from 'commander'
import type { ExplanationBody, Sample } from '../features/placement/schema.ts'
import type { Unsaved } from '../features/placement/service.ts'
import { CommandError } from './failures.ts'
import { examples } from './options.ts'
import { print, printJson, printTable } from './print.ts'
import { conditionsOf, placing, type SaidFlags, saidOptions, ticketOf } from './rule-text.ts'
import { tryOnEntries } from './test-rules.ts'
import { withServices } from './with-services.ts'

interface Flags extends SaidFlags {
  harness?: string
  agent?: string
  model?: string
  provider?: string
  manager?: string
  summary?: string
  label?: Record<string, string>
  position?: number
  replaces?: string
  last?: number
}

export function parsePosition(text: string): number {
  const position = Number(text)
  if (Number.isSafeInteger(position) && position >= 1) return position
  throw new InvalidArgumentError('Use a whole number from 1.')
}

function addLabel(text: string, before: Record<string, string> = {}): Record<string, string> {
  const [name = '', ...value] = text.split('=')
  if (name === '' || value.length === 0) throw new InvalidArgumentError('Use name=value.')
  return { ...before, [name]: value.join('=') }
}

/** `tally rules test`, on a sample. */
export function addTryRulesCommand(rules: Command): void {
  const command = rules
    .command('test')
    .description('Say which rule takes a sample and why the earlier ones do not, also for a rule that is not saved')
    .option('--harness <harness>', 'the harness of the sample')
    .option('--agent <name>', 'the name of its agent')
    .option('--model <model>', 'its model')
    .option('--provider <provider>', 'who sold the model')
    .option('--manager <person>', 'e-mail address or name of the person')
    .option('--summary <text>', 'what the session did')
    .option('--label <name=value>', 'a label; repeat it for several', addLabel)
    .option('--last <number>', 'instead of a sample: the newest entries, so many', parsePosition)
  saidOptions(command)
    .option('--position <number>', 'where the rule that is not saved would stand', parsePosition)
    .option('--replaces <rule>', 'the saved rule in whose place it is tried, as if that one were changed')
    .option('--json', 'print JSON, as POST /api/v1/placement-rules/test answers it')
    .addHelpText(
      'after',
      examples(
        'tally rules test --label repository=acme/web --label branch=feature/ACME-42',
        'tally rules test --last 1000',
        "tally rules test --label branch=fix-7 --when 'labels.branch=/(?<n>[0-9]+)/' --project ACME --ticket 'ACME-{n}'",
      ),
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags>()
      if (flags.last !== undefined) return tryOnEntries(flags, triedWith(flags), flags.last)
      const { explanationBody, readSample } = await placing()
      const sample = readSample(sampleOf(flags))
      const tried = triedWith(flags)
      const body = explanationBody(await withServices(flags, ({ placement }) => placement.testRules(sample, tried)))
      if (flags.json) printJson(body)
      else printExplanation(body)
    })
}

function sampleOf({ harness, agent, model, provider, manager, summary, label }: Flags): Sample {
  return {
    ...(harness !== undefined && { agent_harness: harness }),
    ...(agent !== undefined && { agent_name: agent }),
    ...(model !== undefined && { model }),
    ...(provider !== undefined && { provider }),
    ...(manager !== undefined && { agent_manager: manager }),
    ...(summary !== undefined && { summary }),
    ...(label !== undefined && { labels: label }),
  }
}

function unsavedRule({ when, project, ticket, position }: Flags) {
  const conditions = conditionsOf(when)
  if (!conditions && project === undefined) return undefined
  if (!conditions || project === undefined) {
    throw new CommandError('A rule that is not saved needs --when and --project.', 2)
  }
  return { name: 'the new rule', conditions, project, ticket: ticketOf(ticket) ?? null, position }
}

function triedWith(flags: Flags): Unsaved {
  const unsaved = unsavedRule(flags)
  if (flags.replaces !== undefined && !unsaved) {
    throw new CommandError('--replaces needs the rule to try in its place: --when and --project.', 2)
  }
  return { unsaved, replaces: flags.replaces }
}

const VERDICTS = {
  takes: 'takes it',
  disabled: 'is disabled',
  project_archived: 'is skipped: its project is archived',
  not_met: '',
} satisfies Record<ExplanationBody['steps'][number]['verdict'], string>

function printExplanation({ taken, steps }: ExplanationBody): void {
  printTable(
    [
      { title: 'RULE', of: ({ rule }) => rule.name },
      { title: 'VERDICT', of: ({ verdict, failed }) => VERDICTS[verdict] || failed.map(whyNot).join('; ') },
    ],
    steps,
  )
  if (!taken) {
    print('No rule takes it: it would be unattributed.')
    return
  }
  const place = taken.ticket === null ? taken.project.key : `ticket ${taken.ticket} of ${taken.project.key}`
  print(`Rule '${taken.rule.name}' places it on ${place}.${taken.note === null ? '' : ` ${taken.note}`}`)
}

function whyNot({ field, matches, value }: ExplanationBody['steps'][number]['failed'][number]): string {
  return value === null ? `has no ${field}` : `${field} is '${value}', not ${matches}`
}
