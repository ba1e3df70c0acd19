/** Short names for what was counted already: nothing of what made them can be read from them. */

/** 16 bytes: of a million calls in a session, two are the same by chance less often than disks forget. */
const HEX_DIGITS = 32

/** Hexadecimal digits of a hash over the values, whose order counts. */
export function hashOf(values: readonly unknown[]): string {
  return (Bun.SHA256.hash(JSON.stringify(values), 'hex') as string).slice(0, HEX_DIGITS)
}
