/** Parameters of plans. Pure. */
import { isDay } from '../../lib/calendar.ts'
import { queryReader } from '../../schema/query.ts'

export const readPeriodList = queryReader((query) => {
  const day = (name: string) => {
    const text = query.text(name)
    if (text === undefined || isDay(text)) return text
    return query.refuse(name, 'bad_format', 'must be a date, such as 2026-11-30')
  }
  return { from: day('from'), to: day('to') }
})

export const readRemoval = queryReader((query) => ({ prorate: query.flag('prorate'), dryRun: query.flag('dry_run') }))
