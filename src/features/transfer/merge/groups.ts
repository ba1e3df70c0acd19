/** The entries of a file in groups that are imported together or not at all, and portions of these. */
import type { ReadLine } from '../file.ts'
import { ENTRY, SESSION } from '../kinds/entries.ts'
import { wrongLine } from '../problems.ts'
import type { Numbered } from '../reading.ts'

/** A session with all its entries, or an entry without a session. */
export interface Group {
  session: Numbered | undefined
  entries: Numbered[]
}

/** Entries per transaction: some tens of milliseconds, during which a server cannot write. */
const PORTION_ENTRIES = 200

/** Portions of whole groups, with the number of bytes read so far. */
export function* portionsOf(lines: Iterable<ReadLine>): Generator<{ groups: Group[]; bytes: number }> {
  let groups: Group[] = []
  let entries = 0
  let bytes = 0
  for (const read of lines) {
    const { kind, number, line } = read
    if (kind !== SESSION && kind !== ENTRY) continue
    const goesOn = kind === ENTRY && line.in_session === true
    if (entries >= PORTION_ENTRIES && !goesOn) {
      yield { groups, bytes }
      groups = []
      entries = 0
    }
    bytes = read.bytes
    if (kind === SESSION) groups.push({ session: { number, line }, entries: [] })
    else if (goesOn) {
      const open = groups.at(-1)
      if (!open?.session) throw wrongLine(number, 'an entry of a session must follow the line of its session.')
      open.entries.push({ number, line })
    } else groups.push({ session: undefined, entries: [{ number, line }] })
    if (kind === ENTRY) entries += 1
  }
  if (groups.length > 0) yield { groups, bytes }
}
