import type { Command } from 'commander'
import type { Event } from '../../features/events/schema.ts'
import { columnsOption, wideOption } from '../flags/columns.ts'
import { examples } from '../flags/options.ts'
import type { ColumnFlags } from '../terminal/columns.ts'
import { note, print, printJson, printTable } from '../terminal/print.ts'
import { withServices } from '../with-services.ts'
import { addEventsFlags, EVENT_COLUMNS, type EventsFlags, eventText, readerOf } from './flags.ts'

export function addEventsCommands(program: Command): void {
  const events = program
    .command('events')
    .description('List and follow events: what happened, oldest first')
    .addHelpText('after', examples('tally events list --types bill.*', 'tally events follow --types entry.*,sheet.*'))
  addEventsListCommand(events)
  addEventsFollowCommand(events)
}

interface ListFlags extends EventsFlags, ColumnFlags {
  limit?: string
}

function addEventsListCommand(events: Command): void {
  addEventsFlags(events.command('list'), { begin: 'the oldest event that is left' })
    .description('List events, oldest first')
    .option('--limit <number>', 'events, 1 to 1000 (default 50)')
    .addOption(columnsOption(EVENT_COLUMNS))
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

/** Events that are read at once. */
const BATCH = 100

/** Only how often the position moves on without events. */
const IDLE_MS = 60_000

function addEventsFollowCommand(events: Command): void {
  addEventsFlags(events.command('follow'), { begin: 'now' })
    .description('Print events as they happen, also those that a server records, until it is interrupted')
    .option('--json', 'print each event as a line of JSON')
    .addHelpText(
      'after',
      examples('tally events follow --types entry.*,sheet.*', 'tally events follow --after evt_48213 --json'),
    )
    .action(async (_flags, command: Command) => {
      const flags = command.optsWithGlobals<EventsFlags>()
      const { eventBody, readEventsQuery } = await import('../../features/events/service.ts')
      const { types, after: from = 'now' } = flags
      const query = readEventsQuery({ types, after: from })
      const stop = new AbortController()
      for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort())
      await withServices(flags, async ({ events: log, organization }, self) => {
        const after = await log.begin(query.after)
        const options = { after, types: query.types, limit: BATCH }
        for await (const { views } of log.follow(async () => readerOf(self), options, {
          idleMs: IDLE_MS,
          renewMs: IDLE_MS,
          signal: stop.signal,
        })) {
          const publicUrl = await organization.publicUrl()
          for (const view of views) {
            const body = eventBody(view, publicUrl)
            print(flags.json ? JSON.stringify(body) : lineOf(body))
          }
        }
      })
    })
}

/** `2026-11-20 17:53:04  entry.approved  Ada approved the entry of builder, 2026-11-20 10:00 UTC` */
const lineOf = (event: Event): string =>
  [event.at.slice(0, 19).replace('T', ' '), event.type, eventText(event)].join('  ')
