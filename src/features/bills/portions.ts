/** The entries of a bill in the portions in which they are claimed, with what shows whether they have changed. Pure. */
import { IntegerSum } from '../../lib/integer-sum.ts'
import type { BillableEntry } from './document.ts'

/** Sums over entries: they differ if one of the entries was changed. */
export interface Fingerprint {
  entries: number
  cost: bigint
  listValue: bigint
  tokens: bigint
  /** Keys multiplied by those of their entries, otherwise two entries that swap their values would go unnoticed. */
  projects: bigint
  tickets: bigint
  labels: bigint
  /** The keys of the approved ones. */
  approved: bigint
  /** The number of entries whose amounts are those that the bill keeps. */
  kept: number
}

/** Entries in the order of their keys. Arrays of numbers, because a hundred thousand objects take long to be cloned. */
export interface Portion {
  ids: Float64Array
  /** The line of each entry. */
  lines: Uint32Array
  /** 1 for each entry that is approved, 0 for one that is submitted. */
  approved: Uint8Array
  /** What a bill by marginal or allocated cost keeps of each entry, in nano-dollars. */
  charges: BigInt64Array | undefined
  fees: BigInt64Array | undefined
  fingerprint: Fingerprint
}

export function portionsOfEntries(
  entries: readonly BillableEntry[],
  idsOfLines: readonly (readonly number[])[],
  size: number,
): Portion[] {
  const lineOf = new Map(idsOfLines.flatMap((ids, index) => ids.map((id) => [id, index + 1] as const)))
  const portions: Portion[] = []
  for (let start = 0; start < entries.length; start += size) {
    const some = entries.slice(start, start + size)
    // All entries of a bill have them, or none.
    const frozen = (part: 'charge' | 'fee') =>
      typeof some[0]!.paid?.[part] === 'bigint' ? BigInt64Array.from(some, ({ paid }) => paid![part]!) : undefined
    portions.push({
      ids: Float64Array.from(some, ({ id }) => id),
      lines: Uint32Array.from(some, ({ id }) => lineOf.get(id)!),
      approved: Uint8Array.from(some, ({ status }) => Number(status === 'approved')),
      charges: frozen('charge'),
      fees: frozen('fee'),
      fingerprint: fingerprintOfEntries(some),
    })
  }
  return portions
}

function fingerprintOfEntries(entries: readonly BillableEntry[]): Fingerprint {
  const [tokens, projects, tickets, labels, approved] = Array.from({ length: 5 }, () => new IntegerSum())
  let cost = 0n
  let listValue = 0n
  for (const entry of entries) {
    const { id } = entry
    cost += entry.costNanos
    if (entry.listValueNanos !== null) listValue += entry.listValueNanos
    tokens!.add(entry.input + entry.output + entry.cacheRead + entry.cacheWrite + entry.cacheWrite1h)
    projects!.addProduct(id, entry.projectId ?? 0)
    tickets!.addProduct(id, entry.ticketId ?? 0)
    labels!.addProduct(id, entry.labelSetId ?? 0)
    if (entry.status === 'approved') approved!.add(id)
  }
  return {
    entries: entries.length,
    cost,
    listValue,
    tokens: tokens!.value,
    projects: projects!.value,
    tickets: tickets!.value,
    labels: labels!.value,
    approved: approved!.value,
    kept: entries.reduce((count, { paid }) => count + Number(paid !== undefined), 0),
  }
}

export function isSameFingerprint(one: Fingerprint, other: Fingerprint): boolean {
  return (Object.keys(one) as (keyof Fingerprint)[]).every((sum) => one[sum] === other[sum])
}
