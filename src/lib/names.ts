/** Names as people type them: outer space and the two ways of writing an accented letter make no difference. */

/** A name as it is kept: in Unicode's composed form, without outer space. */
export function composeName(name: string): string {
  return name.normalize('NFC').trim()
}

/** A name as it is compared: case makes no difference either. */
export function foldName(name: string): string {
  return composeName(name).toLowerCase()
}
