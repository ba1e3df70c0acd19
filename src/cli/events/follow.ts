import type { Command } from 'commander'
import type { Event } from '../../features/events/schema.ts'
import { changesText } from '../changes.ts'
import { examples } from '../flags/options.ts'
import { print } from '../terminal/print.ts'
import { withServices } from '../with-services.ts'
import { addEventsFlags, type EventsFlags, readerOf } from './flags.ts'

/** Events that are read at once. */
const BATCH = 100

/** Only how often the position moves on without events. */
const IDLE_MS = 60_000

export function addEventsFollowCommand(events: Command): void {
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

/** `2026-11-20 17:53:04  entry.approved  builder, 2026-11-20T10:00:00.000Z  Ada  status: "submitted" → "approved"` */
function lineOf(event: Event): string {
  const { at, type, object, actor } = event
  const parts = [
    at.slice(0, 19).replace('T', ' '),
    type,
    object?.name ?? object?.id,
    actor?.user?.name,
    changesText(event),
  ]
  return parts.filter(Boolean).join('  ')
}
