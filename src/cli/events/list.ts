import type { Command } from 'commander'
import { columnsOption, wideOption } from '../flags/columns.ts'
import { examples } from '../flags/options.ts'
import type { ColumnFlags } from '../terminal/columns.ts'
import { note, printJson, printTable } from '../terminal/print.ts'
import { withServices } from '../with-services.ts'
import { addEventsFlags, EVENT_COLUMNS, type EventsFlags, readerOf } from './flags.ts'

interface ListFlags extends EventsFlags, ColumnFlags {
  limit?: string
}

export function addEventsListCommand(events: Command): void {
  addEventsFlags(events.command('list'), { begin: 'the oldest event that is left' })
    .description('List events, oldest first')
    .option('--limit <number>', 'events, 1 to 1000 (default 50)')
    .addOption(columnsOption())
    .addOption(wideOption())
    .option('--json', 'print JSON, as returned by GET /api/v1/events')
    .addHelpText('after', examples('tally events list --types bill.*', 'tally events list --after evt_48213 --json'))
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<ListFlags>()
      const { eventBody, readEventsQuery, writeEventId } = await import('../../features/events/service.ts')
      const { types, after: from, limit } = flags
      const query = readEventsQuery({ types, after: from, limit })
      const { views, next, hasMore, publicUrl } = await withServices(
        flags,
        async ({ events: log, organization }, self) => {
          const after = await log.begin(query.after)
          const read = await log.readFull(readerOf(self), { ...query, after })
          return { ...read, publicUrl: await organization.publicUrl() }
        },
      )
      const data = views.map((view) => eventBody(view, publicUrl))
      if (flags.json) return printJson({ data, has_more: hasMore, next_after: writeEventId(next) })
      if (data.length === 0) return note('No matching events.')
      printTable(EVENT_COLUMNS, data, flags)
      if (hasMore) note(`More events: add --after ${writeEventId(next)}`)
    })
}
