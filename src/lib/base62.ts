/** Texts of letters and digits only: safe in shells and headers, and selected as a whole by a double click. */
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/**
 * The largest multiple of 62 that fits in a byte: larger bytes are rejected, because they would make some characters
 * more likely.
 */
const FAIR_BYTES = 248

/** `length` characters from a cryptographic source, 5.95 bits each. */
export function randomBase62(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length))) {
      if (byte < FAIR_BYTES && text.length < length) text += ALPHABET[byte % 62]
    }
  }
  return text
}

/** A number below 2^53 in base 62, padded with zeros to `length`. */
export function toBase62(number: number, length: number): string {
  let text = ''
  for (let rest = number; text.length < length; rest = Math.floor(rest / 62)) text = ALPHABET[rest % 62] + text
  return text
}
