/** What the commands of clients, projects and tickets have in common. */
import type { Command } from 'commander'
import type { AnyAction, ResultOf } from '../operations/operation.ts'
import { addAction, type Runnable } from './operations.ts'
import type { ColumnFlags } from './terminal/columns.ts'
import type { CommandFlags } from './with-services.ts'

/** The flags of lists that show archived rows. */
export const ARCHIVED_FLAGS = {
  archived: [
    { flag: '--archived', doc: 'only archived ones', value: 'true' },
    { flag: '--all', doc: 'include archived ones', value: 'all' },
  ],
}

export interface ListFlags extends CommandFlags, ColumnFlags {
  archived?: boolean
  all?: boolean
}

/** What such a list is of: `active clients` if it leaves out archived ones. */
export function listedText({ archived, all }: Pick<ListFlags, 'archived' | 'all'>, many: string): string {
  return archived || all ? many : `active ${many}`
}

export function archivedText(archivedAt: string | null): string | null {
  return archivedAt && `archived ${archivedAt.slice(0, 10)}`
}

/** In the order of names; ACME-9 is before ACME-10 if they are `numeric`. */
export const byName =
  <Body>(nameOf: (body: Body) => string, { numeric = false } = {}) =>
  (one: Body, other: Body) =>
    nameOf(one).localeCompare(nameOf(other), 'en', { numeric })

/** `archive`, `restore` and `remove`. */
export function addArchiving<Archive extends AnyAction & Runnable>(
  group: Command,
  [archive, restore, remove]: readonly [Archive, AnyAction & Runnable, AnyAction & Runnable],
  texts: {
    subject: string
    example: string
    nameOf: (body: ResultOf<Archive>) => string
    archive: string
    remove: string
  },
): void {
  const { subject, nameOf } = texts
  const examplesOf = (name: string) => [`tally ${subject}s ${name} ${texts.example}`]
  addAction(group, archive, {
    name: 'archive',
    description: texts.archive,
    subject,
    examples: examplesOf('archive'),
    show: (body) => `Archived ${nameOf(body)}.`,
  })
  addAction(group, restore, {
    name: 'restore',
    subject,
    examples: examplesOf('restore'),
    show: (body) => `Restored ${nameOf(body as ResultOf<Archive>)}.`,
  })
  addAction(group, remove, {
    name: 'remove',
    description: texts.remove,
    subject,
    examples: examplesOf('remove'),
    confirm: (named) => `Permanently remove the ${subject} '${named}'?`,
    show: (_, named) => `Removed '${named}'.`,
  })
}
