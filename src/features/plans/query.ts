/** Parameters of plans. Pure. */
import { isDay } from '../../lib/calendar.ts'
import { type Query, queryReader } from '../../schema/query.ts'

const readDay = (query: Query, name: string) => {
  const text = query.text(name)
  if (text === undefined || isDay(text)) return text
  return query.refuse(name, 'bad_format', 'must be a date, such as 2026-11-30')
}
const readDays = (query: Query) => ({ from: readDay(query, 'from'), to: readDay(query, 'to') })

export const readPeriodList = queryReader(readDays)

export const readLedgerList = queryReader((query) => ({ ...readDays(query), unclosed: query.flag('unclosed') }))

export const readRemoval = queryReader((query) => ({ prorate: query.flag('prorate'), dryRun: query.flag('dry_run') }))
