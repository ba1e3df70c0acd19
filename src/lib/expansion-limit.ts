/**
 * Bounds what compressed data expands to while it streams: a few kilobytes can become terabytes. Nothing that Tally or other
 * programs write compresses as well as data that was made to.
 */

/** Exports compress to a tenth, databases to a quarter, and the most repetitive of both to a hundredth. */
const MOST_TIMES = 200

/** What small data may become: of a few kilobytes, the ratio says nothing. */
const ALWAYS_BYTES = 64 * 1_048_576

export class ExpansionError extends Error {
  override name = 'ExpansionError'
}

export class ExpansionLimit {
  #compressed = 0
  #expanded = 0

  /** @param mostBytes what it may expand to, however large the compressed data is */
  constructor(readonly mostBytes = Number.POSITIVE_INFINITY) {}

  /** To be told of all data before it is decompressed. */
  compressed(bytes: number): void {
    this.#compressed += bytes
  }

  /** To be told of all data before it is used. Throws {@link ExpansionError}. */
  expanded(bytes: number): void {
    this.#expanded += bytes
    if (this.#expanded > ALWAYS_BYTES + MOST_TIMES * this.#compressed) {
      throw new ExpansionError(`it expands to more than ${MOST_TIMES} times its size`)
    }
    if (this.#expanded > this.mostBytes) {
      throw new ExpansionError(`it expands to more than ${Math.floor(this.mostBytes / 1e6).toLocaleString('en')} MB`)
    }
  }

  /** As steps of a pipeline, before and after the decompressor. */
  readonly before = (chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>) =>
    noted(chunks, (bytes) => this.compressed(bytes))
  readonly after = (chunks: AsyncIterable<Uint8Array>) => noted(chunks, (bytes) => this.expanded(bytes))
}

async function* noted(
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  note: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    note(chunk.byteLength)
    yield chunk
  }
}
