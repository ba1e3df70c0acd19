/** Flags whose value says whether something is so. */
import { InvalidArgumentError, Option } from 'commander'

const VALUES: Record<string, boolean> = { yes: true, no: false, true: true, false: false }

export const YES_NO = 'yes|no'

/** `true` and `false` mean the same, as the API and scripts have them. */
export function readYesNo(text: string): boolean {
  const value = Object.hasOwn(VALUES, text) ? VALUES[text] : undefined
  if (value === undefined) throw new InvalidArgumentError('Allowed choices are yes, no.')
  return value
}

/** @param flag such as `--share-links` */
export const yesNoOption = (flag: string, doc: string): Option =>
  new Option(`${flag} <${YES_NO}>`, doc).argParser(readYesNo)
