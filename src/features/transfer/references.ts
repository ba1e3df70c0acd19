/** The rows that lines refer to: their texts for an export, and their keys for an import, in bounded memory. */

import type { Reader, Tx } from '../../database/database.ts'
import type { LabelMap } from '../../database/schema/records.ts'
import { makeRoom } from '../../lib/bounded-map.ts'
import { type Interned, internLabelSets, internNames } from '../entries/contract.ts'
import type { Field, Referred } from './columns.ts'
import { findIdentified, type Identified, listTexts } from './store/references.ts'

/** Of one kind: more people, projects, models and labels than are in use at a time. */
const KEPT = 50_000

class Kept<From, To> {
  readonly #kept = new Map<Referred, Map<From, To>>()

  get(to: Referred, from: From): To | undefined {
    return this.#of(to).get(from)
  }

  set(to: Referred, from: From, value: To): void {
    const values = this.#of(to)
    makeRoom(values, KEPT)
    values.set(from, value)
  }

  #of(to: Referred): Map<From, To> {
    let values = this.#kept.get(to)
    if (!values) {
      values = new Map()
      this.#kept.set(to, values)
    }
    return values
  }
}

/** What a batch of values refers to, by kind. */
export class Wanted<Item> {
  readonly items = new Map<Referred, Set<Item>>()

  add(to: Referred, item: Item): void {
    const items = this.items.get(to)
    if (items) items.add(item)
    else this.items.set(to, new Set([item]))
  }
}

/** The texts that identify rows. */
export class Texts {
  readonly #kept = new Kept<number, string>()
  /** Those of the current batch. */
  #now = new Map<Referred, Map<number, string>>()

  constructor(readonly reader: Reader) {}

  async load(wanted: Wanted<number>): Promise<void> {
    this.#now = new Map()
    for (const [to, keys] of wanted.items) {
      const texts = new Map<number, string>()
      const missing: number[] = []
      for (const key of keys) {
        const known = this.#kept.get(to, key)
        if (known === undefined) missing.push(key)
        else texts.set(key, known)
      }
      for (const { key, text } of missing.length > 0 ? await listTexts(this.reader, to, missing) : []) {
        texts.set(key, text)
        this.#kept.set(to, key, text)
      }
      this.#now.set(to, texts)
    }
  }

  of(to: Referred, key: number): string {
    return this.#now.get(to)!.get(key)!
  }
}

/** The keys of rows that texts identify. Names and labels are added if they are missing. */
export class Keys {
  readonly #kept = new Kept<string, number>()
  #now = new Map<Referred, Map<string, number>>()

  constructor(
    readonly tx: Tx,
    readonly interned: Interned,
  ) {}

  async load(wanted: Wanted<string>): Promise<void> {
    this.#now = new Map()
    for (const [to, texts] of wanted.items) {
      const keys = new Map<string, number>()
      const missing: string[] = []
      for (const text of texts) {
        const known = this.#kept.get(to, text)
        if (known === undefined) missing.push(text)
        else keys.set(text, known)
      }
      for (const { key, text } of missing.length > 0 ? await this.#find(to, missing) : []) {
        keys.set(text, key)
        this.#kept.set(to, text, key)
      }
      this.#now.set(to, keys)
    }
  }

  async #find(to: Referred, texts: string[]): Promise<Identified[]> {
    if (to === 'names') {
      const found = await internNames(this.tx, this.interned, texts)
      return found.map(({ id }, at) => ({ key: id, text: texts[at]! }))
    }
    if (to === 'labelSets') {
      const sets = texts.map((text) => JSON.parse(text) as LabelMap)
      const found = await internLabelSets(this.tx, this.interned, sets)
      return found.map((key, at) => ({ key, text: texts[at]! }))
    }
    return findIdentified(this.tx, to, texts)
  }

  /** Undefined if there is no such row. */
  of(to: Referred, text: string): number | undefined {
    return this.#now.get(to)?.get(text)
  }
}

/** The text of a reference in a line: labels are an object. */
export function textOf({ refers }: Pick<Field, 'refers'>, value: unknown): string {
  return refers!.to === 'labelSets' ? JSON.stringify(value) : (value as string)
}
