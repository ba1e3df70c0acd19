/** Why an entry of a division cannot be changed. */
import { Problem } from '../../../errors.ts'

/** Its figures are a share of others. */
export function divided(uid: string): Problem {
  return new Problem(
    'entry_divided',
    `Entry ${uid} is a part of a divided entry, so its figures are a share. Undo the division first.`,
  )
}

/** It has no usage that could be divided. */
export function correcting(uid: string): Problem {
  return new Problem(
    'wrong_status',
    `Entry ${uid} corrects a closed period of a plan, so that it cannot be divided, and its figures and times stay. Place it as a whole, or void it and close the next period.`,
  )
}
