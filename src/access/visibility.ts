/**
 * Decides who can see which entries; nothing else does. Every query of entries, or of sums of entries, requires a
 * `Viewer`, which only this file creates, and adds `visibleEntries` to its condition.
 */
import { and, eq, inArray, isNotNull, or, type SQL } from 'drizzle-orm'
import type { Reader } from '../database/database.ts'
import type { Role } from '../database/schema/values.ts'

declare const decided: unique symbol

/** Sees everything, or a person's own entries and those of the projects that they lead at the time of the query. */
export type Viewer = ({ sees: 'everything' } | { sees: 'own_and_led'; userId: number }) & { [decided]: true }

/** The viewer of the command line, which has access to everything. */
export const EVERYTHING = { sees: 'everything' } as Viewer

/** What a person can see because of their role (docs/design/concepts.md, "Roles"), also with a token. */
export function viewerOf({ id, role }: { id: number; role: Role }): Viewer {
  return role === 'member' ? ({ sees: 'own_and_led', userId: id } as Viewer) : EVERYTHING
}

/** The condition that limits `entries` to those visible to the viewer; undefined if they can see all of them. */
export function visibleEntries(reader: Reader, viewer: Viewer): SQL | undefined {
  if (viewer.sees === 'everything') return undefined
  const { entries } = reader.tables
  return or(eq(entries.managerId, viewer.userId), inArray(entries.projectId, ledProjects(reader, viewer.userId)))
}

/**
 * The same condition as separate alternatives: with an index on the manager or the project, each can be read in time
 * order, but not the combined condition.
 */
export async function visibleParts(reader: Reader, viewer: Viewer): Promise<(SQL | undefined)[]> {
  if (viewer.sees === 'everything') return [undefined]
  const { entries } = reader.tables
  const led = await ledProjects(reader, viewer.userId)
  return [eq(entries.managerId, viewer.userId), ...led.map(({ id }) => eq(entries.projectId, id))]
}

/**
 * The same condition for entries in columns: those of a manager or of any of the projects; undefined if the viewer can
 * see all of them.
 */
export async function visibleKeys(
  reader: Reader,
  viewer: Viewer,
): Promise<{ managerId: number; projectIds: number[] } | undefined> {
  if (viewer.sees === 'everything') return undefined
  const led = await ledProjects(reader, viewer.userId)
  return { managerId: viewer.userId, projectIds: led.map(({ id }) => id) }
}

/**
 * The condition on `sheets`: people see their own, and those with an entry of a project that they lead. Of the entries
 * on a sheet they see those that {@link visibleEntries} allows.
 */
export function visibleSheets(reader: Reader, viewer: Viewer): SQL | undefined {
  if (viewer.sees === 'everything') return undefined
  const { entries, sheets } = reader.tables
  const withLed = reader
    .select({ id: entries.sheetId })
    .from(entries)
    .where(and(isNotNull(entries.sheetId), inArray(entries.projectId, ledProjects(reader, viewer.userId))))
  return or(eq(sheets.managerId, viewer.userId), inArray(sheets.id, withLed))
}

/** The keys of the projects that a person leads. */
export function ledProjects(reader: Reader, userId: number) {
  const { projectLeads } = reader.tables
  return reader.select({ id: projectLeads.projectId }).from(projectLeads).where(eq(projectLeads.userId, userId))
}

/** The condition on `entry_changes` for deleted entries that were visible to the viewer. */
export function visibleDeletions(reader: Reader, viewer: Viewer): SQL | undefined {
  const { entryChanges } = reader.tables
  const isDeleted = isNotNull(entryChanges.deletedUid)
  if (viewer.sees === 'everything') return isDeleted
  const { managerId, projectId } = entryChanges
  return and(isDeleted, or(eq(managerId, viewer.userId), inArray(projectId, ledProjects(reader, viewer.userId))))
}
