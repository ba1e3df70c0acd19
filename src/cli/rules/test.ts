import { type Command, InvalidArgumentError } from 'commander'
import type { ExplanationBody, Sample } from '../../features/placement/schema.ts'
import type { Unsaved } from '../../features/placement/service.ts'
import { CommandError } from '../failures.ts'
import { examples, textOrNone } from '../flags/options.ts'
import { print, printJson, printTable } from '../terminal/print.ts'
import { withServices } from '../with-services.ts'
import { addRuleFlags, parsePosition, placementService, type RuleFieldFlags } from './rule.ts'
import { testOnEntries } from './test-entries.ts'

export interface SampleFlags {
  harness?: string
  agent?: string
  model?: string
  provider?: string
  manager?: string
  summary?: string
  label?: Record<string, string>
}

interface Flags extends RuleFieldFlags, SampleFlags {
  position?: number
  replaces?: string
  last?: number
}

function addLabel(text: string, before: Record<string, string> = {}): Record<string, string> {
  const [name = '', ...value] = text.split('=')
  if (name === '' || value.length === 0) throw new InvalidArgumentError('Use name=value.')
  return { ...before, [name]: value.join('=') }
}

export function addSampleFlags(command: Command): Command {
  return command
    .option('--harness <harness>', 'harness of the sample')
    .option('--agent <name>', 'agent name of the sample')
    .option('--model <model>', 'model of the sample')
    .option('--provider <provider>', 'provider of the model')
    .option('--manager <person>', 'e-mail address or name of the agent manager')
    .option('--summary <text>', 'summary of the sample')
    .option('--label <name=value>', 'label of the sample; repeatable', addLabel)
}

/** `tally rules test`, on a sample. */
export function addRulesTestCommand(rules: Command): void {
  const command = addSampleFlags(
    rules
      .command('test')
      .description('Show which rule matches a sample and why earlier rules do not; can include an unsaved rule'),
  ).option('--last <number>', 'test this number of newest entries instead of a sample', parsePosition)
  addRuleFlags(command)
    .option('--position <number>', 'position of the unsaved rule', parsePosition)
    .option('--replaces <rule>', 'saved rule that the unsaved rule replaces in the test')
    .option('--json', 'print JSON, as returned by POST /api/v1/placement-rules/test')
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
      if (flags.last !== undefined) return testOnEntries(flags, triedWith(flags), flags.last)
      const { explanationBody, readSample } = await placementService()
      const sample = readSample(sampleOf(flags))
      const tried = triedWith(flags)
      const body = explanationBody(await withServices(flags, ({ placement }) => placement.testRules(sample, tried)))
      if (flags.json) printJson(body)
      else printExplanation(body)
    })
}

export function sampleOf({ harness, agent, model, provider, manager, summary, label }: SampleFlags): Sample {
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

function unsavedRule({ when: conditions, project, ticket, position }: Flags) {
  if (!conditions && project === undefined) return undefined
  if (!conditions || project === undefined) {
    throw new CommandError('An unsaved rule needs --when and --project.', 2)
  }
  return { name: 'the new rule', conditions, project, ticket: textOrNone(ticket) ?? null, position }
}

function triedWith(flags: Flags): Unsaved {
  const unsaved = unsavedRule(flags)
  if (flags.replaces !== undefined && !unsaved) {
    throw new CommandError('--replaces requires an unsaved rule: add --when and --project.', 2)
  }
  return { unsaved, replaces: flags.replaces }
}

const VERDICTS = {
  takes: 'matches',
  disabled: 'disabled',
  project_archived: 'skipped: its project is archived',
  foreign_repository: 'skipped: its project no longer has the repository',
  not_met: '',
} satisfies Record<ExplanationBody['steps'][number]['verdict'], string>

function printExplanation({ taken, steps }: ExplanationBody): void {
  printTable(
    [
      { title: 'RULE', of: ({ rule }) => rule.name },
      { title: 'RESULT', of: ({ verdict, failed }) => VERDICTS[verdict] || failed.map(whyNot).join('; ') },
    ],
    steps,
  )
  if (!taken) {
    print('No rule matches. The entry would be unattributed.')
    return
  }
  const place = taken.ticket === null ? taken.project.key : `ticket ${taken.ticket} of ${taken.project.key}`
  print(`Rule '${taken.rule.name}' assigns it to ${place}.${taken.note === null ? '' : ` ${taken.note}`}`)
}

function whyNot({ field, matches, value }: ExplanationBody['steps'][number]['failed'][number]): string {
  return value === null ? `has no ${field}` : `${field} is '${value}', not ${matches}`
}
