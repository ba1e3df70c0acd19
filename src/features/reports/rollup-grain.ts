/**
 * The groups in which the roll-up keeps a period's sums. Together they have a third of the rows that groups by all
 * columns at once would have, and a question needs the rows of only one of them. Pure.
 */

/** Columns of entries by which the roll-up can group and filter. */
export const ROLLED_COLUMNS = [
  'managerId',
  'harnessId',
  'agentId',
  'modelId',
  'providerId',
  'projectId',
  'status',
  'source',
] as const
export type RolledColumn = (typeof ROLLED_COLUMNS)[number]

/**
 * By number, those with fewer rows first. All have the status, which every question filters. What none of them has
 * together, such as harness and project, is read from entries.
 */
export const GRAINS: readonly (readonly RolledColumn[])[] = [
  ['harnessId', 'agentId', 'providerId', 'modelId', 'source', 'status'],
  ['projectId', 'status'],
  ['projectId', 'providerId', 'modelId', 'status'],
  ['managerId', 'modelId', 'status'],
  ['projectId', 'managerId', 'status'],
]

/** The sessions that went on behind the end of the period, by all columns. */
export const STRADDLING_GRAIN = GRAINS.length

/** The grain that has all these columns; undefined where none does. */
export function findGrain(columns: readonly RolledColumn[]): number | undefined {
  const grain = GRAINS.findIndex((kept) => columns.every((column) => kept.includes(column)))
  return grain === -1 ? undefined : grain
}
