/** Lists of what changed, for programs that keep a copy: where their pages begin. Pure. */

/** How far a copy is: the last new entry, and the last change of another one. */
export interface ChangesPosition {
  entry: number
  change: number
}

export interface ChangesQuery {
  /** Where the first page begins. */
  since: number
  after: ChangesPosition | undefined
}

/** Whether a copy is further than a position, in either respect. */
export function isAfter(copy: ChangesPosition, { entry, change }: ChangesPosition): boolean {
  return copy.entry > entry || copy.change > change
}

export function writeChangesPage({ entry, change }: ChangesPosition): string {
  return Buffer.from(`changes.${entry}.${change}`).toString('base64url')
}

export function readChangesPage(page: string): ChangesPosition | undefined {
  const match = /^changes\.(\d{1,16})\.(\d{1,16})$/.exec(Buffer.from(page, 'base64url').toString('latin1'))
  return match ? { entry: Number(match[1]), change: Number(match[2]) } : undefined
}
