import { type Command, Option } from 'commander'
import { Query } from '../../schema/query.ts'
import type { Services } from '../../services.ts'
import { CommandError } from '../failures.ts'
import { asksFirst } from '../flags/confirmation.ts'
import { addEntryFilters, type EntryFilterFlags, entryFilterTexts } from '../flags/entry-filters.ts'
import { examples } from '../flags/options.ts'
import { costText } from '../sheets/sheet.ts'
import { confirm } from '../terminal/confirm.ts'
import { counted } from '../terminal/numbers.ts'
import { note, print, printJson } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'

type Asking = Parameters<Services['entries']['approval']['decideEntries']>[1]

/** The status that a filter selects by default: entries in another status would each be refused. */
const MEANT = {
  approve: 'submitted',
  reject: 'submitted',
  reopen: 'rejected',
  withdraw_approval: 'approved',
  release: 'held',
  discard: 'held',
  void: 'submitted',
  restore: 'voided',
} as const satisfies Record<Asking['action'], string>

interface DecisionFlags extends CommandFlags, EntryFilterFlags {
  reason?: string
  laterReports?: string
  dryRun?: boolean
  yes?: boolean
}

/** `tally entries approve`, `reject`, `reopen` and `withdraw-approval`. */
export function addEntriesApprovalCommands(entries: Command): void {
  const add = (name: string, action: Asking['action'], verb: string, description: string, more: string) => {
    const command = addEntryFilters(
      asksFirst<DecisionFlags>(entries.command(name), hasFilters)
        .description(`${description}, by id or by filters, up to 10,000 at once`)
        .summary(description)
        .argument('[entries...]', 'ids of entries (ent_…)'),
    )
    if (action === 'reject' || action === 'void') {
      command.requiredOption('--reason <text>', 'reason, shown to the agent manager')
    }
    if (action === 'void') {
      command.addOption(
        new Option(
          '--later-reports <what>',
          'new-part counts what the sessions use from now on (default); ignore never counts them again',
        ).choices(Object.keys(LATER_REPORTS)),
      )
    }
    command
      .option('--dry-run', 'show what would change, and write nothing')
      .option('--json', 'print the result for each entry as JSON')
      .addHelpText(
        'after',
        examples(`tally entries ${name} ent_…${more}`, `tally entries ${name} --project acme-web${more} --dry-run`),
      )
      .action(async (ids: string[], _flags, self: Command) => {
        const flags = self.optsWithGlobals<DecisionFlags>()
        await decide(
          ids,
          { action, reason: flags.reason, laterReports: LATER_REPORTS[flags.laterReports ?? ''] },
          verb,
          flags,
        )
      })
  }
  add('approve', 'approve', 'Approve', 'Approve submitted entries', '')
  add('reject', 'reject', 'Reject', 'Reject submitted entries', ' --reason "A test run"')
  add('reopen', 'reopen', 'Reopen', 'Reopen rejected entries, which become submitted again', '')
  add(
    'withdraw-approval',
    'withdraw_approval',
    'Withdraw the approval of',
    'Withdraw the approval of entries, which become submitted again',
    '',
  )
  add('release', 'release', 'Release', 'Release held sessions, whose entries are counted from then on', '')
  add('discard', 'discard', 'Discard', 'Discard held sessions as duplicates, whose entries are never counted', '')
  add(
    'void',
    'void',
    'Void',
    'Void entries that were reported by mistake, so that nothing counts them',
    ' --reason "A mistake"',
  )
  add('restore', 'restore', 'Restore', 'Restore voided entries, which become submitted again', '')
}

const LATER_REPORTS: Record<string, Asking['laterReports']> = { 'new-part': 'new_part', ignore: 'ignore' }

/** Whether the command line selects entries by filters: how many these are is only known once they are counted. */
function hasFilters(flags: DecisionFlags): boolean {
  return Object.values(entryFilterTexts(flags)).some((text) => text !== undefined)
}

async function decide(ids: string[], asking: Asking, verb: string, flags: DecisionFlags): Promise<void> {
  const { actionResults } = await import('../../features/entries/contract.ts')
  const { readFilter } = await import('../../features/selection/contract.ts')
  const texts = entryFilterTexts(flags)
  const isFiltered = hasFilters(flags)
  if (ids.length > 0 === isFiltered) {
    throw new CommandError('Select entries either by ids or by filters such as --project.', 2)
  }
  const { yes = false, dryRun = false } = flags
  const results = await withServices(flags, async ({ entries, selection }, self) => {
    const { filter } = await selection.read(self, (timeZone) => {
      const query = new Query(texts)
      const read = { filter: readFilter(query, timeZone) }
      query.finish()
      return read
    })
    const chosen = isFiltered ? { filter: { ...filter, status: filter.status ?? [MEANT[asking.action]] } } : { ids }
    if (isFiltered && !dryRun && !yes) {
      const planned = await entries.approval.decideEntries(chosen, { ...asking, dryRun: true }, self)
      await confirm(`${verb} ${counted(planned.done, 'entry', 'entries')}?`, { yes })
    }
    return actionResults(await entries.approval.decideEntries(chosen, { ...asking, dryRun }, self), { dryRun })
  })
  if (flags.json) return printJson(results)
  for (const { problem } of results.results) if (problem) note(problem.detail)
  const what = dryRun ? `${verb} (dry run):` : `${verb}:`
  print(
    `${what} ${counted(results.done, 'entry', 'entries')}, ${costText(results.cost!, results.unpriced_entries!)} USD; ${results.refused} refused.`,
  )
  if (results.done === 0 && results.refused > 0) throw new CommandError('Nothing was changed.')
}
