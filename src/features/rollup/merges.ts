/** Groups of several values of an attribute: projects of a client, label sets with the same value of a label. */
import type { Reader } from '../../database/database.ts'
import { portionsOf } from '../../database/portions.ts'
import { FUNDING_KEYS } from './segment.ts'
import { listClientsOf, listFundingsOf, listPlansOf, listValuesOf } from './store/merges.ts'
import type { EntryKey } from './store/sums.ts'

/** What groups have in common: the value of an attribute, the client of the project, the value of a label, or what pays. */
export type Grouping = { key: EntryKey } | { client: true } | { label: string } | { paidBy: 'plan' | 'funding' }

/** The attribute whose values a grouping merges. */
export function keyOf(grouping: Grouping): EntryKey {
  if ('key' in grouping) return grouping.key
  if ('paidBy' in grouping) return 'fundingId'
  return 'client' in grouping ? 'projectId' : 'labelSetId'
}

export interface Merge {
  /** The keys of the groups that these keys belong to; -1 is null. */
  of(keys: Int32Array): Promise<Int32Array>
  /** The values of the label, by key. */
  texts?: string[]
}

/** Undefined if each value is a group. */
export function mergeOf(reader: Reader, grouping: Grouping): Merge | undefined {
  if ('key' in grouping) return undefined
  if ('client' in grouping) return merge((projects) => listClientsOf(reader, projects))
  if ('paidBy' in grouping) {
    if (grouping.paidBy === 'plan') return merge((fundings) => listPlansOf(reader, fundings))
    const load = async (fundings: number[]) =>
      (await listFundingsOf(reader, fundings)).map(({ id, funding }) => ({ id, of: FUNDING_KEYS[funding]! }))
    return merge(load, FUNDING_KEYS.unknown)
  }
  const texts: string[] = []
  const numbers = new Map<string, number>()
  const numberOf = (text: string) => {
    let number = numbers.get(text)
    if (number === undefined) {
      number = texts.push(text) - 1
      numbers.set(text, number)
    }
    return number
  }
  const load = async (labelSets: number[]) =>
    (await listValuesOf(reader, grouping.label, labelSets)).map(({ id, value }) => ({ id, of: numberOf(value) }))
  return { ...merge(load), texts }
}

/** Looks each key up once. */
function merge(load: (keys: number[]) => Promise<{ id: number; of: number | null }[]>, ofNone = -1): Pick<Merge, 'of'> {
  const known = new Map<number, number>([[-1, ofNone]])
  return {
    async of(keys) {
      const missing = [...new Set(keys)].filter((key) => !known.has(key))
      for (const portion of portionsOf(missing)) {
        for (const key of portion) known.set(key, -1)
        for (const { id, of } of await load(portion)) known.set(id, of ?? -1)
      }
      return keys.map((key) => known.get(key)!)
    },
  }
}
