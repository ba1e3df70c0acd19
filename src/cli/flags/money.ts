/** Options with a percentage or an amount of money, which the services of projects parse. */
import type { Nanos } from '../../lib/money.ts'
import { CommandError } from '../failures.ts'
import { NONE, textOrNone } from './options.ts'

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

/** A percentage of the subtotal in parts per million; null clears it. */
export async function taxOf(text: string | undefined): Promise<number | null | undefined> {
  if (text === undefined || text === NONE) return textOrNone(text) as null | undefined
  const ppm = (await projects()).parseTax(text)
  if (ppm !== undefined) return ppm
  throw new CommandError('--tax is not valid. Use a percentage from 0 to 100 with at most 4 decimals, or none.', 2)
}

export async function budgetOf(text: string | undefined): Promise<Nanos | null | undefined> {
  if (text === undefined || text === NONE) return textOrNone(text) as null | undefined
  const nanos = (await projects()).parseBudget(text)
  if (nanos !== undefined) return nanos
  throw new CommandError('--budget is not valid. Use US dollars from 0 to 1000000000, such as 2500, or none.', 2)
}
