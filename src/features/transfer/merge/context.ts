/** What a merge must know of a file before it decides about the first entry: kept in memory, unlike the entries. */
import type { ReadLine } from '../file.ts'
import { ENTRY } from '../kinds/entries.ts'
import { PERSON, TOKEN } from '../kinds/people.ts'
import { PRICE } from '../kinds/prices.ts'
import { CLIENT, PROJECT, TICKET } from '../kinds/work.ts'
import type { Numbered } from '../reading.ts'
import type { Line } from '../writing.ts'

/** Lines that entries refer to, by id. */
const REFERRED = new Map([
  [PERSON, 'people'],
  [TOKEN, 'tokens'],
  [CLIENT, 'clients'],
  [PROJECT, 'projects'],
  [TICKET, 'tickets'],
  [PRICE, 'prices'],
] as const)

type Referred = 'people' | 'tokens' | 'clients' | 'projects' | 'tickets' | 'prices'

export class MergeContext {
  readonly people = new Map<string, Numbered>()
  readonly tokens = new Map<string, Numbered>()
  readonly clients = new Map<string, Numbered>()
  readonly projects = new Map<string, Numbered>()
  readonly tickets = new Map<string, Numbered>()
  readonly prices = new Map<string, Numbered>()
  /** By the entry that was divided. */
  readonly divisions = new Map<string, Division>()

  note({ kind, number, line }: ReadLine): void {
    if (kind === ENTRY) {
      this.#noteDivision(line)
      return
    }
    const of: Referred | undefined = REFERRED.get(kind as typeof PERSON)
    if (of) this[of].set(line.id as string, { number, line })
  }

  #noteDivision(line: Line): void {
    const whole = divisionOf(line)
    if (whole === undefined) return
    const division = this.divisions.get(whole) ?? { amendment: '', shares: new Set(), isBilled: false }
    if (line.id === whole) division.amendment = JSON.stringify(line.amendment)
    else division.shares.add(line.id as string)
    if (line.status === 'billed') division.isBilled = true
    this.divisions.set(whole, division)
  }
}

/** What a file says of a divided entry. */
interface Division {
  /** JSON: its share, and what is left of it. */
  amendment: string
  /** The other parts. */
  shares: Set<string>
  isBilled: boolean
}

/** The entry that this one is a part of; undefined if it is not divided. */
export function divisionOf(line: Line): string | undefined {
  if (line.divided_from !== null) return line.divided_from as string
  const { division } = (line.amendment ?? {}) as { division?: unknown }
  return division ? (line.id as string) : undefined
}
