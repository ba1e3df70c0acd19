/** The period of a page of a thing, in its address and in requests. Pure. */
import { addDays, dayOf } from '../../format/moments.ts'
import { FIRST_DAY, type Period, readPeriod } from '../../parts/period.ts'

/** In the address: everything. */
export const ANY_TIME = 'any'

/** The last 30 days of what goes on for years; all of what ends, such as tickets. */
export type UsualPeriod = '30d' | typeof ANY_TIME

export interface UsagePeriod {
  period: Period
  /** As the entries page names it; undefined for any time. */
  name: string | undefined
}

/** As the entries page counts all entries: an agent's clock may be up to a day ahead. */
const everything = (now: Date): Period => ({ from: FIRST_DAY, to: addDays(dayOf(now, 'UTC'), 1) })

export function usagePeriodOf(
  inAddress: string | undefined,
  usual: UsualPeriod,
  timeZone: string,
  now = new Date(),
): UsagePeriod {
  const name = inAddress ?? usual
  return name === ANY_TIME
    ? { period: everything(now), name: undefined }
    : { period: readPeriod(name, timeZone, now), name }
}

/** What the address says of a chosen period; undefined, like the period picker's “Any time”, means all of it. */
export function periodInAddress(chosen: string | undefined, usual: UsualPeriod): string | undefined {
  const name = chosen ?? ANY_TIME
  return name === usual ? undefined : name
}
