/** The names of the labels of exported entries, which are columns of CSV files and so must be known first. */

import type { Reader } from '../../../database/database.ts'
import type { Position } from '../../selection/contract.ts'
import { type ExportRequest, findLatestStart, findNextLabelName, listLabelSets, listReferred } from './store/export.ts'

/** Columns of a file at most, in the order of their names. The column `labels` has all labels. */
const COLUMNS_LIMIT = 500

const NOTHING = new Uint8Array()

/**
 * The names of the labels of the requested entries, sorted. Entries are only searched until each name that there is at
 * all was found: usually, the newest ones have all of them. Between two windows, others have their turn.
 */
export async function* labelNamesOf(
  reader: Reader,
  request: ExportRequest,
  windowMs: number,
): AsyncGenerator<Uint8Array, string[]> {
  const missing = new Set(await allNames(reader))
  const found: string[] = []
  const seen = new Set<number>()
  const search = async (window: { from: number; to: number } | undefined) => {
    const sets = (await listLabelSets(reader, request, window)).filter((id) => !seen.has(id))
    for (const id of sets) seen.add(id)
    for (const { labels } of await listReferred(reader, 'labels', sets)) {
      for (const name of Object.keys(labels)) if (missing.delete(name)) found.push(name)
    }
  }
  if (request.filter.billedOn) await search(undefined)
  let before: Position | undefined
  while (!request.filter.billedOn && missing.size > 0) {
    const latest = await findLatestStart(reader, request.filter, before)
    if (latest === undefined) break
    const from = latest - windowMs
    await search({ from, to: latest })
    // No entry has the key 0: what comes next started at `from` or earlier.
    before = { startedAt: from, id: Number.MAX_SAFE_INTEGER }
    if (missing.size > 0) yield NOTHING
  }
  return found.sort().slice(0, COLUMNS_LIMIT)
}

async function allNames(reader: Reader): Promise<string[]> {
  const names: string[] = []
  // By an index, however many sets of labels there are.
  for (let name = await findNextLabelName(reader, ''); name !== null; name = await findNextLabelName(reader, name)) {
    names.push(name)
  }
  return names
}
