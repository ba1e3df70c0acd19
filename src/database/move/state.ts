/** Whether a database may be used: not while it is moved or not complete, and not once it was moved. */
import { WrongDatabase } from '../wrong-database.ts'

/** What opening a database reads of its mark (side.ts). */
export interface OpeningMark {
  direction: 'from' | 'to'
  place: string
  endedAt: unknown
}

export const MARK_QUERY = `SELECT move, direction, place, ended_at AS "endedAt", restores = '[]' AS "isRestored" FROM moves`

export function cancelledMeanwhile(place: string): WrongDatabase {
  return new WrongDatabase(
    `The move was cancelled meanwhile: ${place} is used again, and the copy may lack what was recorded there since. Remove the copy, and move to a new database.`,
  )
}

/** Throws {@link WrongDatabase} for a database with a mark. */
export function refuseMoved(mark: OpeningMark | undefined, where: string): void {
  if (!mark) return
  const { direction, place, endedAt } = mark
  if (direction === 'from') {
    throw new WrongDatabase(
      `${where} is an unfinished copy of ${place}. Repeat the \`tally move\` that began it, or use another database.`,
    )
  }
  if (endedAt === null) {
    throw new WrongDatabase(
      `${where} is being moved to ${place}. Repeat \`tally move\` to finish that, or end it with \`tally move --cancel\`.`,
    )
  }
  throw new WrongDatabase(
    `${where} was moved to ${place}. Use that database. To use this one nevertheless, without what was recorded there since, run \`tally move --cancel\`.`,
  )
}
