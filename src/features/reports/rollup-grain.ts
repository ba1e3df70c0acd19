/**
 * The groups by which the roll-up stores a period's sums. Together they have three quarters as many rows as the period
 * has entries, and a query needs the rows of only one of them. Pure.
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
 * Fewer rows first. All contain the status, which every query filters by. The last one serves members, who see entries
 * by person and project. Combinations that none of them contains, such as person and agent, are read from entries:
 * groups by all columns would have nearly as many rows as there are entries.
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

/** The sessions that continued past the end of the period, grouped by all columns. */
export const STRADDLING_GRAIN = GRAINS.length

/** The grain that contains all these columns; undefined if there is none. */
export function findGrain(columns: readonly RolledColumn[]): number | undefined {
  const grain = GRAINS.findIndex((kept) => columns.every((column) => kept.includes(column)))
  return grain === -1 ? undefined : grain
}

/** The grain from whose sums those of another one can be calculated, since it has fewer rows than there are entries. */
export function findFinerGrain(grain: number): number | undefined {
  const finer = GRAINS.findIndex((kept, at) => at > grain && GRAINS[grain]!.every((column) => kept.includes(column)))
  return finer === -1 ? undefined : finer
}
