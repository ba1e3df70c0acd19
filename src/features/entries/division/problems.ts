/** Why an entry of a division cannot be changed. */
import { Problem } from '../../../errors.ts'

/** Its figures are a share of others. */
export function divided(uid: string): Problem {
  return new Problem(
    'entry_divided',
    `Entry ${uid} is a part of a divided entry, so its figures are a share. Undo the division first.`,
  )
}
