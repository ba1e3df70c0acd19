/**
 * The groups in which the roll-up keeps a period's sums. Together they have three quarters as many rows as the period
 * has entries, and a question needs the rows of only one of them. Pure.
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
 * By number, those with fewer rows first. All have the status, which every question filters. The last is what members
 * ask, who see entries by person and project. What none of them has together, such as person and agent, is read from
 * entries: groups by all columns at once would have nearly as many rows as there are entries.
 */
export const GRAINS: readonly (readonly RolledColumn[])[] = [
  ['harnessId', 'agentId', 'providerId', 'modelId', 'source', 'status'],
  ['projectId', 'status'],
  ['projectId', 'harnessId', 'agentId', 'status'],
  ['managerId', 'modelId', 'status'],
  ['projectId', 'providerId', 'modelId', 'status'],
  ['projectId', 'managerId', 'status'],
  ['projectId', 'managerId', 'harnessId', 'modelId', 'status'],
]

/** The sessions that continued past the end of the period, by all columns. */
export const STRADDLING_GRAIN = GRAINS.length

/** The grain that has all these columns; undefined where none does. */
export function findGrain(columns: readonly RolledColumn[]): number | undefined {
  const grain = GRAINS.findIndex((kept) => columns.every((column) => kept.includes(column)))
  return grain === -1 ? undefined : grain
}

/** The grain from whose sums those of another can be summed, as it has fewer rows than there are entries. */
export function findFinerGrain(grain: number): number | undefined {
  const finer = GRAINS.findIndex((kept, at) => at > grain && GRAINS[grain]!.every((column) => kept.includes(column)))
  return finer === -1 ? undefined : finer
}
