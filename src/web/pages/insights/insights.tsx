/** Insights: what is behind the cost of the entries that a person sees. */
import { one, oneOf, useAddress } from '../../address.ts'
import { FilterBar } from '../../parts/entries/filter-bar.tsx'
import { entryQuery, FILTERS } from '../../parts/entries/filters.ts'
import { Page } from '../../parts/page.tsx'
import { WhenNear } from '../../parts/when-near.tsx'
import { useSettings } from '../../server/me.ts'
import { Caching } from './caching.tsx'
import classes from './insights.module.css'
import { ModelMix } from './model-mix.tsx'
import { OtherModel } from './other-model.tsx'
import { OutlierSessions } from './outliers.tsx'
import { PriceEffects } from './price-changes.tsx'
import { type Asked, DIMENSIONS } from './queries.ts'
import { LongContext } from './surcharges.tsx'

const ADDRESS = { ...FILTERS, by: oneOf(...DIMENSIONS), as: one }

const USUAL_PERIOD = '30d'

export default function Insights() {
  const { time_zone } = useSettings()
  const [{ by, as, ...chosen }, show] = useAddress(ADDRESS)
  const asked = { ...entryQuery({ ...chosen, period: chosen.period ?? USUAL_PERIOD }, time_zone) } as Asked
  return (
    <Page title="Insights" lead="What is behind the cost: caching, models and prices. Names lead to the entries.">
      <FilterBar filters={chosen} show={show} hasPeriod />
      <Caching asked={asked} dimension={by} choose={(by) => show({ by })} />
      <WhenNear className={classes.models}>
        <ModelMix asked={asked} />
      </WhenNear>
      <WhenNear className={classes.section}>
        <OtherModel asked={asked} as={as} choose={(as) => show({ as })} />
      </WhenNear>
      <WhenNear className={classes.section}>
        <LongContext asked={asked} />
      </WhenNear>
      <WhenNear className={classes.section}>
        <PriceEffects asked={asked} />
      </WhenNear>
      <WhenNear className={classes.section}>
        <OutlierSessions asked={asked} />
      </WhenNear>
    </Page>
  )
}
