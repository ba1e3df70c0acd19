/** The price table, the cost calculator, unpriced models and aliases. */
import { Button, Menu } from '@mantine/core'
import { useState } from 'react'
import { Link, Redirect, Route, Switch } from 'wouter'
import { oneOf, useAddress } from '../../address.ts'
import { MoreActions } from '../../parts/more-actions.tsx'
import { Page } from '../../parts/page.tsx'
import { SectionTabs } from '../../parts/section-tabs.tsx'
import { useRole } from '../../server/me.ts'
import { NotFound } from '../../shell/not-found.tsx'
import { Aliases } from './aliases.tsx'
import { LoadTable } from './load-table.tsx'
import { Loads } from './loads.tsx'
import { ModelCost } from './model-cost.tsx'
import { PriceForm } from './price-form.tsx'
import { PriceList } from './price-list.tsx'
import { Reprice } from './reprice.tsx'
import { Unpriced, useUnpriced } from './unpriced.tsx'

export default function Prices() {
  const mayChange = useRole('billing', 'admin')
  return (
    <Switch>
      <Route path="/prices" component={Lists} />
      <Route path="/prices/load">{mayChange ? <LoadTable /> : <Redirect to="/prices" />}</Route>
      <Route component={NotFound} />
    </Switch>
  )
}

const TABS = [
  { value: 'list', title: 'Price table', shows: PriceList },
  { value: 'cost', title: 'Cost calculator', shows: ModelCost },
  { value: 'unpriced', title: 'Unpriced models', shows: Unpriced },
  { value: 'names', title: 'Aliases', shows: Aliases },
  { value: 'loads', title: 'Loads', shows: Loads },
] as const

const UNPRICED = '/prices?tab=unpriced'

/** Who changes prices also sees who did. */
const RESTRICTED = 'loads'

function Lists() {
  const mayChange = useRole('billing', 'admin')
  const [{ tab }, show] = useAddress({ tab: oneOf('list', 'cost', 'unpriced', 'names', 'loads') })
  const tabs = TABS.filter(({ value }) => mayChange || value !== RESTRICTED)
  const { value: current, shows: Shown } = tabs.find(({ value }) => value === tab) ?? tabs[0]!
  const { rows, hasMore } = useUnpriced()
  // Of a longer list, only the first rows are counted here.
  const waiting = rows && !hasMore ? { figure: 'models' as const, value: rows.length, to: UNPRICED } : undefined
  return (
    <Page
      title="Prices"
      lead="List prices in US dollars per million tokens. A reported cost takes precedence over them."
      actions={mayChange && <PriceActions />}
    >
      <SectionTabs
        label="Prices"
        tabs={tabs.map((one) => (one.value === 'unpriced' ? { ...one, waiting } : one))}
        value={current}
        change={(chosen) => show({ ...NOTHING_SAID, tab: chosen as typeof tab })}
      >
        <Shown />
      </SectionTabs>
    </Page>
  )
}

/** Clears the parameters of the other tabs. */
const NOTHING_SAID = Object.fromEntries(
  [
    'search',
    'source',
    'model',
    'provider',
    'at',
    'all',
    'input',
    'output',
    'cache_read',
    'cache_write',
    'cache_write_1h',
  ].map((name) => [name, undefined]),
) as object

function PriceActions() {
  const [open, setOpen] = useState<'price' | 'reprice' | null>(null)
  const close = () => setOpen(null)
  return (
    <>
      <Button onClick={() => setOpen('price')}>New price</Button>
      <Button variant="default" component={Link} href="/prices/load">
        Load price table
      </Button>
      <MoreActions>
        <Menu.Item onClick={() => setOpen('reprice')}>Reprice entries…</Menu.Item>
      </MoreActions>
      {open === 'price' && <PriceForm close={close} />}
      {open === 'reprice' && <Reprice close={close} />}
    </>
  )
}
