/** Normalizes names: surrounding white space and Unicode composition are ignored. */

/** A name as stored: in Unicode NFC, without surrounding white space. */
export function composeName(name: string): string {
  return name.normalize('NFC').trim()
}

/** A name for comparison, which also ignores case. */
export function foldName(name: string): string {
  return composeName(name).toLowerCase()
}
