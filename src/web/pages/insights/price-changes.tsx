/** Changes of prices, and their effect on what was used since. */
import { Text } from '@mantine/core'
import { percentChange } from '../../format/counts.ts'
import { fineMoney } from '../../format/money.ts'
import { cellColumn, moneyColumn, unsorted } from '../../parts/columns.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Moment } from '../../parts/figures.tsx'
import { Entries, ModelName } from './cells.tsx'
import { type PriceChanges, type ReportQuery, usePriceChanges } from './queries.ts'
import { Section } from './section.tsx'
import { changesInWords } from './words.ts'

type Change = PriceChanges['data'][number]

export function PriceEffects({ query }: { query: ReportQuery }) {
  const report = usePriceChanges(query)
  const { data } = report
  return (
    <Section
      title="Price changes"
      found={data && changesInWords(data)}
      note="The usage from a change to the next one, or to the end of the period, at the new and at the earlier list prices. Prices are per million tokens."
      csv={data && data.data.length > 0 ? { path: '/reports/price-changes', query: { ...query } } : undefined}
      request={report}
    >
      {data && (
        <DataTable
          label="Price changes"
          columns={COLUMNS}
          list={data.data}
          rowKey={({ model, provider, changed_at }) => JSON.stringify([model, provider, changed_at])}
          empty={null}
        />
      )}
    </Section>
  )
}

const KINDS = [
  ['input', 'Input'],
  ['output', 'Output'],
  ['cache_read', 'Cache reads'],
  ['cache_write', 'Cache writes'],
  ['cache_write_1h', 'One-hour writes'],
] as const

const priceInWords = (price: number | null): string => (price === null ? 'no price' : fineMoney(price))

const Prices = ({ before, after }: Change) => (
  <>
    {KINDS.filter(([kind]) => before[kind] !== after[kind]).map(([kind, title]) => (
      <Text key={kind} size="sm">
        {title}: {priceInWords(before[kind])} → {priceInWords(after[kind])}
      </Text>
    ))}
  </>
)

const COLUMNS: Column<Change>[] = unsorted([
  cellColumn('model', 'Model', { minWidth: '180px', phone: 'title' }, (row) => <ModelName {...row} />),
  cellColumn('at', 'Changed', { width: '150px' }, ({ changed_at }) => <Moment at={changed_at} isShort />),
  cellColumn('prices', 'Prices', { minWidth: '220px', phone: 'bare' }, (change) => <Prices {...change} />),
  moneyColumn('before', 'At the earlier price', ({ value_before }) => value_before, { width: '160px' }),
  moneyColumn('after', 'At the new price', ({ value_after }) => value_after, { width: '150px' }),
  moneyColumn('effect', 'Effect', ({ effect }) => effect, { width: '120px', phone: 'value' }),
  cellColumn('ratio', 'Change', { isNumber: true, width: '100px' }, ({ ratio }) =>
    ratio === null ? '–' : percentChange(ratio - 1),
  ),
  cellColumn('entries', 'Entries', { isNumber: true, width: '90px' }, (row) => <Entries {...row} />),
])
