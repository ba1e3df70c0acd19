/** Options with a percentage, which the services of projects parse. */
import { CommandError } from '../failures.ts'
import { NONE } from './none.ts'
import { textOrNone } from './options.ts'

const projects = () => import('../../features/projects/service.ts')

/** A percentage in parts per million; null clears it. */
export async function markupOf(text: string | undefined): Promise<number | null | undefined> {
  if (text === undefined || text === NONE) return textOrNone(text) as null | undefined
  const ppm = (await projects()).parseMarkup(text)
  if (ppm !== undefined) return ppm
  throw new CommandError(
    '--markup is not valid. Use a percentage from -100 to 10000 with at most 4 decimals, such as 12.5, or none.',
    2,
  )
}
