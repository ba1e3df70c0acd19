/** Chooses the encoding of a response by `Accept-Encoding` (RFC 9110, section 12.5.3). */

/** The best first: by the time that they need and the bytes that are left at the levels of `compression.ts`. */
export const ENCODINGS = ['zstd', 'br', 'gzip'] as const
export type Encoding = (typeof ENCODINGS)[number]

/** Below this size the headers outweigh the savings of compression. */
const WORTH_COMPRESSING_BYTES = 1_024

const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i

/**
 * The encoding for a response of this size; undefined if it is sent as it is. Also undefined if the client accepts
 * nothing that is offered, not even an unencoded response: an answer that it may understand is better than none.
 */
export function encodingFor(
  { headers }: Request,
  bytes: number,
  offered: readonly Encoding[] = ENCODINGS,
): Encoding | undefined {
  const header = headers.get('accept-encoding')
  if (header === null) return undefined
  const weights = weightsOf(header)
  const weightOf = (encoding: string) => weights.get(encoding) ?? weights.get('*')
  if (bytes < WORTH_COMPRESSING_BYTES && weightOf('identity') !== 0) return undefined
  // An unencoded response is acceptable without being named, but anything that is named is preferred to it.
  let most = weights.get('identity') ?? 0
  let best: Encoding | undefined
  for (const encoding of offered) {
    const weight = weightOf(encoding) ?? 0
    if (weight > most || (weight === most && weight > 0 && best === undefined)) {
      best = encoding
      most = weight
    }
  }
  return best
}

/** What is not a weight is ignored, together with the encoding that it belongs to. */
function weightsOf(header: string): Map<string, number> {
  const weights = new Map<string, number>()
  for (const element of header.split(',')) {
    const [name, parameter] = element.split(';', 2).map((part) => part.trim().toLowerCase())
    const weight = parameter === undefined ? '1' : WEIGHT.exec(parameter)?.[1]
    if (name && weight !== undefined) weights.set(name === 'x-gzip' ? 'gzip' : name, Number(weight))
  }
  return weights
}
