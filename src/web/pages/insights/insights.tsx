/** Insights: what is behind the cost of the entries that a person sees. */
import { one, oneOf, useAddress } from '../../address.ts'
import { BasisSelect } from '../../parts/basis-select.tsx'
import { FilterBar } from '../../parts/entries/filter-bar.tsx'
import { entryQuery, FILTERS } from '../../parts/entries/filters.ts'
import { Page } from '../../parts/page.tsx'
import { WhenNear } from '../../parts/when-near.tsx'
import { basesFor, basisFor, readBasis } from '../../server/cost-basis.ts'
import { useMe } from '../../server/me.ts'
import { Caching } from './caching.tsx'
import classes from './insights.module.css'
import { PlanLimits } from './limits.tsx'
import { ModelMix } from './model-mix.tsx'
import { OtherModel } from './other-model.tsx'
import { OutlierSessions } from './outliers.tsx'
import { PlanSeats } from './plans.tsx'
import { PriceEffects } from './price-changes.tsx'
import { DIMENSIONS, type ReportQuery } from './queries.ts'
import { LongContext } from './surcharges.tsx'

const ADDRESS = { ...FILTERS, by: oneOf(...DIMENSIONS), as: one, basis: readBasis }

const USUAL_PERIOD = '30d'

export default function Insights() {
  const me = useMe()
  const { time_zone } = me.settings
  const [{ by, as, basis: chosenBasis, ...chosen }, show] = useAddress(ADDRESS)
  const basis = basisFor(me, chosenBasis)
  const query = { ...entryQuery({ ...chosen, period: chosen.period ?? USUAL_PERIOD }, time_zone) } as ReportQuery
  return (
    <Page
      title="Insights"
      lead="What drives your cost: caching, models and prices. Click a name to see its entries."
      actions={<BasisSelect value={basis} change={(basis) => show({ basis })} />}
    >
      <FilterBar filters={chosen} show={show} hasPeriod />
      <Caching query={query} dimension={by} choose={(by) => show({ by })} />
      <WhenNear className={classes.models}>
        <ModelMix query={query} basis={basis} />
      </WhenNear>
      <WhenNear className={classes.section}>
        <OtherModel query={query} as={as} choose={(as) => show({ as })} />
      </WhenNear>
      <WhenNear className={classes.section}>
        <PlanLimits query={query} />
      </WhenNear>
      {basesFor(me).includes('allocated') && (
        <WhenNear className={classes.section}>
          <PlanSeats query={query} />
        </WhenNear>
      )}
      <WhenNear className={classes.section}>
        <LongContext query={query} />
      </WhenNear>
      <WhenNear className={classes.section}>
        <PriceEffects query={query} />
      </WhenNear>
      <WhenNear className={classes.section}>
        <OutlierSessions query={query} basis={basis} />
      </WhenNear>
    </Page>
  )
}
