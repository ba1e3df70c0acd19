import type { Command } from 'commander'
import type { TokenEntry } from '../../features/entries/schema.ts'
import { serviceText } from '../../shared/price-texts.ts'
import { columnsOption, wideOption } from '../flags/columns.ts'
import { addCostBasis, type BasisFlags, basisTexts, costTitle, UNKNOWN_COST } from '../flags/cost-basis.ts'
import { addEntryFilters, type EntryFilterFlags, entryFilterTexts } from '../flags/entry-filters.ts'
import { examples } from '../flags/options.ts'
import type { ColumnFlags } from '../terminal/columns.ts'
import { durationText } from '../terminal/numbers.ts'
import { type Column, minute, note, printJson, printTable } from '../terminal/print.ts'
import { type CommandFlags, withServices } from '../with-services.ts'

interface ListFlags extends BasisFlags, ColumnFlags, CommandFlags, EntryFilterFlags {
  sort?: string
  order?: string
  updatedSince?: string
  limit?: string
  page?: string
}

export function addEntriesListCommand(entries: Command): void {
  addEntryFilters(
    addCostBasis(
      entries
        .command('list')
        .description('List entries, newest first unless sorted otherwise; an entry must match all filters'),
    ),
  )
    .option(
      '--sort <by>',
      'started_at (the default), duration, cost, list_value, reported_cost, tokens, input, output, cache_read, cache_write or cache_write_1h',
    )
    .option('--order <order>', 'desc: newest or largest first, the default; asc: oldest or smallest first')
    .option('--updated-since <when>', 'what changed since this day or timestamp, in the order of change')
    .option('--limit <number>', 'entries per page, 1 to 1000 (default 50)')
    .option('--page <page>', 'next_page of the previous page')
    .addOption(columnsOption())
    .addOption(wideOption())
    .option('--json', 'print JSON, as returned by GET /api/v1/token-entries')
    .addHelpText(
      'after',
      examples(
        'tally entries list --project acme-web --from 2026-11-01 --to 2026-11-30',
        'tally entries list --placed none --json',
        'tally entries list --label repository=acme/web --priced no',
        'tally entries list --cost-mismatch yes',
        'tally entries list --updated-since 2026-11-20 --json',
        'tally entries list --sort cost --from 2026-11-01 --limit 10',
        'tally entries list --basis marginal --unknown-cost marginal',
      ),
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<ListFlags>()
      const { readListQuery } = await import('../../features/entries/contract.ts')
      const { searchToLimit } = await import('./search-to-limit.ts')
      const texts = {
        ...entryFilterTexts(flags),
        sort: flags.sort,
        order: flags.order,
        updated_since: flags.updatedSince,
        limit: flags.limit,
        page: flags.page,
      }
      const answer = await withServices(flags, async (services, self) => {
        const asked = { ...texts, ...(await basisTexts(services, self, flags)) }
        const query = await services.selection.read(self, (timeZone) => readListQuery(asked, timeZone))
        return searchToLimit(services.entries.listing, self.viewer, query)
      })
      if (flags.json) return printJson(answer)
      printTable(
        [
          { title: 'STARTED (UTC)', of: ({ started_at }) => minute(started_at) },
          { title: 'PERSON', rank: 1, of: ({ agent_manager }) => agent_manager.name },
          { title: 'HARNESS', rank: 3, of: ({ agent_harness }) => agent_harness },
          { title: 'AGENT', rank: 3, of: ({ agent_name }) => agent_name },
          { title: 'MODEL', rank: 1, of: (entry) => [entry.model, serviceText(entry)].filter(Boolean).join(', ') },
          { title: 'TOKENS', rank: 2, of: ({ tokens }) => tokens.total.toLocaleString('en'), align: 'right' },
          // Money is JSON's exact number, not one to calculate with; its text is that of the JSON.
          {
            title: costTitle(answer.basis),
            of: ({ cost }) => (cost === null ? UNKNOWN_COST[answer.basis] : JSON.stringify(cost)),
            align: 'right',
          },
          ...(flags.costMismatch === undefined ? [] : [LIST_VALUE]),
          ...(flags.sort === 'duration' ? [DURATION] : []),
          { title: 'PLACE', rank: 2, of: placeOf },
          { title: 'STATUS', rank: 1, of: ({ status }) => status },
          { title: 'ID', of: ({ id }) => id },
        ],
        answer.data,
        flags,
      )
      if (answer.deleted?.length) note(`Deleted: ${answer.deleted.join(', ')}`)
      if (answer.searched_to !== null && flags.sort !== undefined && flags.sort !== 'started_at')
        note(
          `There are many entries: those from ${minute(answer.searched_to)} UTC on are listed first, then earlier ones`,
        )
      if (answer.has_more) note(`More entries: add --page ${answer.next_page}`)
      else if (answer.deleted) note(`Later changes: add --page ${answer.next_page}`)
    })
}

/** Where entries are sorted by it. */
const DURATION: Column<TokenEntry> = {
  title: 'DURATION',
  of: ({ started_at, ended_at }) => durationText(Date.parse(ended_at) - Date.parse(started_at)),
  align: 'right',
}

/** Next to the cost where it is filtered by how far it is from this. */
const LIST_VALUE: Column<TokenEntry> = {
  title: 'LIST VALUE (USD)',
  of: ({ list_value }) => (list_value === null ? '–' : JSON.stringify(list_value)),
  align: 'right',
}

export function placeOf({ project, ticket }: Pick<TokenEntry, 'project' | 'ticket'>): string {
  if (!project && !ticket) return 'unattributed'
  return [project?.key, ticket?.key].filter(Boolean).join(' ')
}
