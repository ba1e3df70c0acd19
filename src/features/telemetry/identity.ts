/** Short hashes that identify counted calls without revealing the values behind them. */

/** 16 bytes: for a million calls in a session, a collision is less likely than a disk error. */
const HEX_DIGITS = 32

/** Hexadecimal digits of a hash over the values, in their order. */
export function hashOf(values: readonly unknown[]): string {
  return (Bun.SHA256.hash(JSON.stringify(values), 'hex') as string).slice(0, HEX_DIGITS)
}
