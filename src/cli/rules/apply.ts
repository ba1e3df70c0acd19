import type { Command } from 'commander'
import type { Actor } from '../../access/actor.ts'
import type { Applied, Scope, Walk } from '../../features/entries/contract.ts'
import type { Services } from '../../services.ts'
import { asksFirst } from '../flags/confirmation.ts'
import { addEntryFilters, type EntryFilterFlags, entryFilterTexts } from '../flags/entry-filters.ts'
import { examples } from '../flags/options.ts'
import { confirm } from '../terminal/confirm.ts'
import { counted, countText, dollars, inDollars } from '../terminal/numbers.ts'
import { print, printJson, printTable } from '../terminal/print.ts'
import { Progress } from '../terminal/progress.ts'
import { type CommandFlags, withServices } from '../with-services.ts'
import { placeText } from './place-text.ts'

interface Flags extends CommandFlags, EntryFilterFlags {
  all?: boolean
  dryRun?: boolean
  yes?: boolean
}

/** The most groups that are printed; the JSON has all of them. */
const GROUPS_SHOWN = 40

const load = () => import('../../features/entries/contract.ts')

/** `tally rules apply`. */
export function addRulesApplyCommand(rules: Command): void {
  const command = asksFirst(rules.command('apply'))
    .description(
      'Apply the rules to existing entries: unattributed entries, and with --all also entries that rules placed',
    )
    .summary('Apply the rules to existing entries')
    .option('--all', 'also entries that rules placed; those that no rule matches anymore become unattributed')
  addEntryFilters(command)
    .option('--dry-run', 'show what would move, and write nothing')
    .option('--json', 'print JSON, with every move in a dry run')
    .addHelpText(
      'after',
      examples('tally rules apply --dry-run', 'tally rules apply --all --label repository=acme/web --yes'),
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags>()
      const { dryRun = false, yes = false, json = false } = flags
      const { appliedBody, readRuleApplication } = await load()
      const texts = entryFilterTexts(flags)
      const body = await withServices(flags, async ({ entries, selection }, self) => {
        const { by } = self
        const scope = flags.all ? ('rule_placed' as const) : ('unattributed' as const)
        const requested = await selection.read(self, (timeZone) => readRuleApplication({ scope }, texts, timeZone))
        const apply = async (how: { dryRun: boolean; isListed: boolean }) =>
          appliedBody(await applyAll(entries, requested, { ...how, by }), how)
        if (dryRun) return apply({ dryRun, isListed: json })
        if (!yes) {
          const planned = await apply({ dryRun: true, isListed: false })
          if (planned.entries === 0) return planned
          printApplied(planned)
          await confirm(`Move ${counted(planned.entries, 'entry', 'entries')}?`, { yes })
        }
        return apply({ dryRun: false, isListed: false })
      })
      if (json) printJson(body)
      else printApplied(body)
    })
}

/** As many moves as a call lists over HTTP; here they are only joined. */
const LISTED = 1_000

/** Everything that one call after the other answers, as one. */
async function applyAll(
  entries: Services['entries'],
  requested: { scope: Scope; filter: Parameters<Services['entries']['places']['applyRules']>[0]['filter'] },
  { dryRun, isListed, by }: { dryRun: boolean; isListed: boolean; by: Actor },
): Promise<Applied> {
  const { joinApplied, readWalk } = await load()
  const progress = new Progress(dryRun ? 'Matching entries' : 'Moving entries')
  try {
    const answers: Applied[] = []
    let after: Walk | undefined
    let before = 0
    let total: number | undefined
    do {
      let done = 0
      const answer: Applied = await entries.places.applyRules(
        { ...requested, after },
        {
          dryRun,
          by,
          limit: isListed ? LISTED : 0,
          onProgress: (looked, of) => {
            done = looked
            total ??= of
            progress.show(before + done, total)
          },
        },
      )
      before += done
      answers.push(answer)
      after = answer.nextPage === null ? undefined : readWalk(answer.nextPage)
    } while (after)
    return joinApplied(answers)
  } finally {
    progress.end()
  }
}

type Body = ReturnType<Awaited<ReturnType<typeof load>>['appliedBody']>

function printApplied({ dry_run, entries, unpriced_entries, cost, groups }: Body): void {
  if (entries === 0) {
    print('No entries to move.')
    return
  }
  printTable(
    [
      { title: 'FROM', of: ({ from }) => placeText(from) },
      { title: 'TO', of: ({ to }) => placeText(to) },
      { title: 'RULE', of: ({ rule }) => rule?.name ?? '–' },
      { title: 'ENTRIES', of: (group) => countText(group.entries), align: 'right' },
      { title: 'COST (USD)', of: (group) => dollars(group.cost), align: 'right' },
    ],
    groups.slice(0, GROUPS_SHOWN),
  )
  if (groups.length > GROUPS_SHOWN)
    print(`… and ${counted(groups.length - GROUPS_SHOWN, 'more row')}; use --json to list all of them.`)
  print('')
  const unpriced = unpriced_entries === 0 ? '' : `, ${countText(unpriced_entries)} of them unpriced`
  print(`${counted(entries, 'entry', 'entries')} ${dry_run ? 'would move' : 'moved'}: ${inDollars(cost)}${unpriced}.`)
}
