/** Finds which of many literals a text contains, in one pass: an Aho–Corasick automaton. Pure. */

const ROOT = 0

/** More than all UTF-16 code units. */
const UNITS = 65_536
const ASCII = 128

/** The nodes are the prefixes of all literals, as indices of these arrays; shorter prefixes come first. */
export class LiteralSearch<Meaning> {
  /** By node and code unit, the prefix that is longer by this unit. */
  readonly #longer = new Map<number, number>()
  readonly #first = new Int32Array(ASCII)
  /** By node, the longest other prefix that it ends with. */
  readonly #suffix = [ROOT]
  /** By node, the longest literal that it ends with, as a node. */
  readonly #ending = [ROOT]
  /** By node, if it is a literal. */
  readonly #meanings: (Meaning | undefined)[] = [undefined]

  /** @param meanings by literal, what {@link find} returns for it */
  constructor(meanings: ReadonlyMap<string, Meaning>) {
    let prefixes = Array.from(meanings.keys(), (literal) => ({ literal, node: ROOT }))
    for (let length = 1; prefixes.length > 0; length++) {
      prefixes = prefixes.filter(({ literal }) => literal.length >= length)
      for (const prefix of prefixes) prefix.node = this.#add(prefix.node, prefix.literal.charCodeAt(length - 1))
      for (const { literal, node } of prefixes) {
        if (literal.length === length) this.#meanings[node] = meanings.get(literal)
      }
    }
    for (let node = 1; node < this.#suffix.length; node++) {
      this.#ending.push(this.#meanings[node] === undefined ? this.#ending[this.#suffix[node]!]! : node)
    }
  }

  #add(node: number, unit: number): number {
    const known = this.#longer.get(node * UNITS + unit)
    if (known !== undefined) return known
    const added = this.#suffix.length
    this.#suffix.push(node === ROOT ? ROOT : this.#step(this.#suffix[node]!, unit))
    this.#meanings.push(undefined)
    if (node === ROOT && unit < ASCII) this.#first[unit] = added
    this.#longer.set(node * UNITS + unit, added)
    return added
  }

  /** The longest prefix that a text ends with, if it ended with `node` without its last code unit. */
  #step(node: number, unit: number): number {
    for (let shorter = node; shorter !== ROOT; shorter = this.#suffix[shorter]!) {
      const longer = this.#longer.get(shorter * UNITS + unit)
      if (longer !== undefined) return longer
    }
    return unit < ASCII ? this.#first[unit]! : (this.#longer.get(unit) ?? ROOT)
  }

  /** The meanings of the literals that the text contains. */
  find(text: string): Meaning[] {
    const found = new Set<number>()
    let node = ROOT
    for (let index = 0; index < text.length; index++) {
      node = this.#step(node, text.charCodeAt(index))
      // Once a literal is found, so are all shorter ones that it ends with.
      for (let end = this.#ending[node]!; end !== ROOT && !found.has(end); end = this.#ending[this.#suffix[end]!]!) {
        found.add(end)
      }
    }
    return Array.from(found, (end) => this.#meanings[end]!)
  }
}
