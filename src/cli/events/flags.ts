import type { Command } from 'commander'
import type { Event } from '../../features/events/schema.ts'
import type { EventReader } from '../../features/events/service.ts'
import { collect } from '../flags/options.ts'
import type { Column } from '../terminal/columns.ts'
import { changeText } from '../terminal/sentences.ts'
import type { CommandFlags, Self } from '../with-services.ts'

export interface EventsFlags extends CommandFlags {
  types?: string[]
  after?: string
}

export function addEventsFlags(command: Command, { begin }: { begin: string }): Command {
  return command
    .option(
      '--types <type>',
      'type of event, or all of an area, such as entry.*; repeatable or comma-separated (default all)',
      collect,
    )
    .option('--after <id>', `continue after this event (evt_…), or now (default: ${begin})`)
}

/** The command line reads what an admin may. */
export function readerOf({ viewer }: Self): EventReader {
  return { viewer, isAdmin: true }
}

export const EVENT_COLUMNS: Column<Event>[] = [
  { title: 'ID', of: ({ id }) => id },
  { title: 'WHEN (UTC)', of: ({ at }) => at.slice(0, 19).replace('T', ' ') },
  { title: 'TYPE', of: ({ type }) => type },
  { title: 'EVENT', flows: true, of: eventText },
]

/** “Ada approved the entry of builder, 2026-11-20 10:00 UTC”. */
export function eventText({ type, actor, object, before, after }: Event): string {
  return changeText({ action: type, object, before, after, user: actor?.user ?? null, token: actor?.token ?? null })
}
