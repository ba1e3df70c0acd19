/** Texts of letters and digits only, which survive every shell, header and double click. */
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** The largest multiple of 62 that a byte can hold: bytes from here on are thrown away, or some characters would be likelier. */
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

/** A number below 2^53 in base 62, with zeros before it up to `length`. */
export function toBase62(number: number, length: number): string {
  let text = ''
  for (let rest = number; text.length < length; rest = Math.floor(rest / 62)) text = ALPHABET[rest % 62] + text
  return text
}
