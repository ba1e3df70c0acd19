/** Interning: names, sets of labels and fundings by their keys, which are added on first use. */
import type { Tx } from '../../../database/database.ts'
import type { UnusedIds } from '../../../database/dry-run.ts'
import type { LabelMap } from '../../../database/schema/records.ts'
import { addFundings, type Funded, findFundings } from '../../funding/service.ts'
import type { OrganizationService } from '../../organization/service.ts'
import { normalizeModelName } from '../../prices/service.ts'
import { addLabelSet, findLabelSet, findNames, insertNames, type NameKey } from './store/names.ts'

/**
 * Keys of recently used names, label sets and fundings, so that a report does not look up five of them. Filled only after a
 * commit: a key that was rolled back may be given to another text.
 */
export class Interned {
  readonly names = new Recent<NameKey>()
  readonly labelSets = new Recent<number>()
  readonly fundings = new Recent<number>()
  #version = 0

  constructor(readonly organization: Pick<OrganizationService, 'settings'>) {}

  /** Forgets all keys if texts were erased since: call it in a transaction before the keys are used. */
  async follow(tx: Tx): Promise<void> {
    this.followVersion((await this.organization.settings(tx)).internedVersion)
  }

  followVersion(version: number): void {
    if (version === this.#version) return
    this.names.clear()
    this.labelSets.clear()
    this.fundings.clear()
    this.#version = version
  }

  /** Remembers a key once the transaction is committed, unless its text may have been erased meanwhile. */
  remember<Value>(tx: Tx, known: Recent<Value>, text: string, key: Value): void {
    const version = this.#version
    tx.afterCommit(() => {
      if (version === this.#version) known.set(text, key)
    })
  }
}

/** Enough for every repository and model of a large team, and at most some megabytes of hostile names. */
const RECENT_LIMIT = 20_000

class Recent<Value> extends Map<string, Value> {
  override set(key: string, value: Value): this {
    if (this.size >= RECENT_LIMIT) this.clear()
    return super.set(key, value)
  }
}

/**
 * The keys of texts, interned on first use. Names of all kinds share a table, so each is stored with its canonical form,
 * whatever kind it had when it was first seen: the name of an agent may become that of a model later.
 */
export async function internNames(tx: Tx, interned: Interned, texts: readonly string[]): Promise<NameKey[]> {
  const keys = new Map<string, NameKey>()
  for (const text of texts) {
    const known = interned.names.get(text)
    if (known) keys.set(text, known)
  }
  const unknown = [...new Set(texts)].filter((text) => !keys.has(text))
  const found = await findNames(tx, unknown)
  const added = unknown.filter((_, position) => !found[position])
  if (added.length > 0) await addNames(tx, added)
  const all = added.length > 0 ? await findNames(tx, unknown) : found
  for (const [position, text] of unknown.entries()) {
    const key = all[position]!
    keys.set(text, key)
    interned.remember(tx, interned.names, text, key)
  }
  return texts.map((text) => keys.get(text)!)
}

/** In order of the texts: otherwise two transactions that add the same names could wait for each other. */
async function addNames(tx: Tx, texts: readonly string[]): Promise<void> {
  const canonicalOf = new Map(texts.map((text) => [text, normalizeModelName(text)]))
  const canonicals = [...new Set(canonicalOf.values())].sort()
  await insertNames(
    tx,
    canonicals.map((text) => ({ text, canonicalId: null })),
  )
  const spelled = texts.filter((text) => canonicalOf.get(text) !== text).sort()
  const keys = await findNames(tx, canonicals)
  const idOf = new Map(canonicals.map((text, position) => [text, keys[position]!.id]))
  await insertNames(
    tx,
    spelled.map((text) => ({ text, canonicalId: idOf.get(canonicalOf.get(text)!)! })),
  )
}

/** As {@link internNames}, for a dry run: nothing is added, and new texts have keys that no row has. */
export async function assumeNames(tx: Tx, unused: UnusedIds, texts: readonly string[]): Promise<NameKey[]> {
  const canonicals = texts.map(normalizeModelName)
  const found = await findNames(tx, [...texts, ...canonicals])
  return texts.map((text, position) => {
    const canonicalId = found[texts.length + position]?.canonicalId ?? unused.of(canonicals[position]!)
    return found[position] ?? { id: unused.of(text), canonicalId }
  })
}

/** As {@link internLabelSets}, for a dry run. */
export async function assumeLabelSets(tx: Tx, unused: UnusedIds, sets: readonly LabelMap[]): Promise<number[]> {
  const ids: number[] = []
  for (const labels of sets) ids.push((await findLabelSet(tx, labels)) ?? unused.of(textOfLabels(labels)))
  return ids
}

/** As {@link internFundings}, for a dry run. */
export async function assumeFundings(tx: Tx, unused: UnusedIds, all: readonly Funded[]): Promise<number[]> {
  const found = await findFundings(tx, all)
  return all.map(({ uid }, position) => found[position] ?? unused.of(uid))
}

/** The keys of what pays for entries. */
export async function internFundings(tx: Tx, interned: Interned, all: readonly Funded[]): Promise<number[]> {
  const ids = await addFundings(tx, all)
  for (const [position, { uid }] of all.entries()) interned.remember(tx, interned.fundings, uid, ids[position]!)
  return ids
}

/** The text that identifies a set of labels, which must be sorted by name. */
export function textOfLabels(labels: LabelMap): string {
  return JSON.stringify(labels)
}

/** The keys of sets of labels, which must be sorted by name. */
export async function internLabelSets(tx: Tx, interned: Interned, sets: readonly LabelMap[]): Promise<number[]> {
  const ids: number[] = []
  for (const labels of sets) ids.push(await internLabels(tx, interned, labels))
  return ids
}

/** The key of a set of labels, which must be sorted by name. */
export async function internLabels(tx: Tx, interned: Interned, labels: LabelMap): Promise<number> {
  const text = textOfLabels(labels)
  const known = interned.labelSets.get(text)
  if (known !== undefined) return known
  const id = (await findLabelSet(tx, labels)) ?? (await addLabelSet(tx, labels))
  interned.remember(tx, interned.labelSets, text, id)
  return id
}
