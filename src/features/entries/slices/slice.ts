/**
 * A slice of a session is what one model has used on one day at one place (docs/design/concepts.md, "Slices"). One entry
 * is one part of a slice. Pure.
 */
import type { LabelMap } from '../../../database/schema/records.ts'
import { makeRoom } from '../../../lib/bounded-map.ts'
import type { SaidFunding } from '../../funding/contract.ts'
import type { Totals } from '../totals.ts'

/** Identifies a slice within a session and model. */
export interface SliceKey {
  /** Days since 1970 in the session's time zone. */
  day: number
  /** The {@link placeOf} what its cells name. */
  place: bigint
}

/** What the cells of a slice name. Rules, and where the entry was placed, may change; this does not. */
export interface NamedPlace {
  project: string | undefined
  ticket: string | undefined
  labels: LabelMap | undefined
}

export interface Slice extends Totals, NamedPlace {
  key: SliceKey
  summary: string | undefined
  /** How it was said to be paid for. Not a part of the key: usage must not move when more is said of it. */
  funding?: SaidFunding | undefined
  /** Whether its figures are not those of the source that names its place. */
  estimated: boolean
}

/** The place of cells that name none. */
export const NO_PLACE = 0n

/** Labels that say where a session works, which changes while it does. All others are of the whole session. */
const PLACE_LABELS = ['branch', 'repository'] as const

export function placeLabelsOf(labels: LabelMap | undefined): LabelMap | undefined {
  const found = PLACE_LABELS.flatMap((name) => (labels?.[name] === undefined ? [] : [[name, labels[name]] as const]))
  return found.length > 0 ? Object.fromEntries(found) : undefined
}

export function otherLabelsOf(labels: LabelMap | undefined): LabelMap | undefined {
  const { branch: _, repository: __, ...others } = labels ?? {}
  return Object.keys(others).length > 0 ? others : undefined
}

const PLACES_LIMIT = 10_000
const places = new Map<string, bigint>()

/** 63 bits of a SHA-256, so that nothing of the names remains where they are erased. Labels are sorted by name. */
export function placeOf({ project, ticket, labels }: NamedPlace): bigint {
  if (project === undefined && ticket === undefined && labels === undefined) return NO_PLACE
  // Names have no control characters. To compose JSON of them would cost as much as the rest of a cell.
  let names = `${project ?? ''}\0${ticket ?? ''}`
  for (const label in labels) names += `\0${label}\0${labels[label]}`
  const known = places.get(names)
  if (known !== undefined) return known
  const text = JSON.stringify([project ?? null, ticket ?? null, labels ?? null])
  const digest = Bun.SHA256.hash(text) as Uint8Array
  const place = new DataView(digest.buffer, digest.byteOffset).getBigUint64(0) >> 1n
  makeRoom(places, PLACES_LIMIT)
  places.set(names, place)
  return place
}

export function isSameKey(one: SliceKey | null, other: SliceKey | null): boolean {
  return one === other || (one !== null && other !== null && one.day === other.day && one.place === other.place)
}

export function keyText(key: SliceKey | null): string {
  return key === null ? '' : `${key.day} ${key.place}`
}

/** The earliest first; of two with the same start always the same one. */
export function inOrder<Of extends Pick<Slice, 'key' | 'startedAt'>>(slices: readonly Of[]): Of[] {
  return slices.toSorted(
    (one, other) =>
      one.startedAt - other.startedAt ||
      one.key.day - other.key.day ||
      (one.key.place < other.key.place ? -1 : Number(one.key.place > other.key.place)),
  )
}
