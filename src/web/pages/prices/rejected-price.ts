/** Why a price of a table is rejected, and how to load it anyway. */
import type { LoadedTable } from './price.ts'

type Reason = LoadedTable['refused'][number]['reasons'][number]

/** Which option of the page loads a rejected price anyway. */
const REMEDIES: Record<string, string> = {
  free: 'input and output are both free; select “Allow free models” to load it',
  above_limit: 'if it is correct, select “Allow suspicious prices” to load it',
  cache_write_out_of_line: 'select “Allow suspicious prices” to load it',
}

/** The part of an API message that names a flag of the command line. */
const FLAG_ADVICE = /[;,] (?:(?:or )?use )?--[a-z-]+ (?:takes|to accept) it.*$/

export function reasonText({ code, message }: Reason): string {
  const remedy = REMEDIES[code]
  if (code === 'free') return remedy!
  return [message.replace(FLAG_ADVICE, ''), remedy].filter(Boolean).join('; ')
}
