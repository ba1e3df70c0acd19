/** What prices of long requests add to list values. */
import { percent } from '../../format/counts.ts'
import { cellColumn, moneyColumn, unsorted } from '../../parts/columns.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { pageOfList } from '../../parts/entries/filters.ts'
import { FigureLink } from '../../parts/figure-link.tsx'
import { Money } from '../../parts/figures.tsx'
import { useSettings } from '../../server/me.ts'
import { Entries, ModelName } from './cells.tsx'
import { type ReportQuery, type Surcharges, useSurcharges } from './queries.ts'
import { Section } from './section.tsx'
import { surchargesInWords } from './words.ts'

type Model = Surcharges['data'][number]

export function LongContext({ query }: { query: ReportQuery }) {
  const report = useSurcharges(query)
  const { data } = report
  return (
    <Section
      title="Long-context surcharges"
      found={data && surchargesInWords(data.totals)}
      note="Some models cost more per token in requests above a length, such as 200,000 tokens of input. The surcharge is the difference to the base prices of the same models. Sessions reported as a sum, without their long requests, are valued at base prices."
      csv={data && data.data.length > 0 ? { path: '/reports/surcharges', query: { ...query } } : undefined}
      request={report}
    >
      {data && (
        <DataTable
          label="Surcharges of long requests"
          columns={COLUMNS}
          list={data.data}
          rowKey={({ list }) => list}
          empty={null}
          foot={{
            model: 'Total',
            list_value: <ListValue {...data.totals} />,
            base: <Money amount={data.totals.base_value} />,
            surcharge: <Money amount={data.totals.surcharge} />,
            share: shareOf(data.totals),
            left_out: <Unvalued {...data.totals} />,
            entries: <Entries {...data.totals} />,
          }}
        />
      )}
    </Section>
  )
}

/** The list value, as a link to the entries that have it. */
function ListValue({ list_value, list }: Pick<Model, 'list_value' | 'list'>) {
  const { time_zone } = useSettings()
  return (
    <FigureLink figure="list_value" value={list_value} to={pageOfList(list, time_zone)}>
      <Money amount={list_value} />
    </FigureLink>
  )
}

/** The number of entries whose surcharge is unknown, as a link to them. */
const Unvalued = ({ unvalued_entries, unvalued_list }: Pick<Model, 'unvalued_entries' | 'unvalued_list'>) =>
  unvalued_entries === 0 ? 0 : <Entries entries={unvalued_entries} list={unvalued_list} />

const shareOf = ({ share }: Pick<Model, 'share'>): string => (share === null ? '–' : percent(share))

const COLUMNS: Column<Model>[] = unsorted([
  cellColumn('model', 'Model', { minWidth: '180px', phone: 'title' }, (row) => <ModelName {...row} />),
  cellColumn('list_value', 'List value', { isNumber: true, width: '120px' }, (row) => <ListValue {...row} />),
  moneyColumn('base', 'At base prices', ({ base_value }) => base_value, { width: '140px', phone: 'hidden' }),
  moneyColumn('surcharge', 'Surcharge', ({ surcharge }) => surcharge, { width: '120px', phone: 'value' }),
  cellColumn('share', 'Share', { isNumber: true, width: '90px' }, shareOf),
  cellColumn('left_out', 'Without a base price', { isNumber: true, width: '160px', phone: 'hidden' }, (row) => (
    <Unvalued {...row} />
  )),
  cellColumn('entries', 'Entries', { isNumber: true, width: '90px' }, (row) => <Entries {...row} />),
])
