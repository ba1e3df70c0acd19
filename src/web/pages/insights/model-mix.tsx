/** The shares of models in cost and tokens. */
import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { colorsOf } from '../../../shared/charts/colors.ts'
import { BASIS_TITLES, type CostBasis } from '../../../shared/cost-basis.ts'
import { COUNTED_STATUSES } from '../../../shared/entry-filters.ts'
import { addressOf } from '../../address.ts'
import { counted, percent } from '../../format/counts.ts'
import { pointOf } from '../../parts/charts/buckets.ts'
import { Chart } from '../../parts/charts/chart.tsx'
import { AMOUNTS, type ChartSeries, restSeries } from '../../parts/charts/series.ts'
import { cellColumn } from '../../parts/columns.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { FigureLink } from '../../parts/figure-link.tsx'
import { Count, Money } from '../../parts/figures.tsx'
import { entriesAddress } from '../../parts/usage/dimensions.ts'
import { useSettings } from '../../server/me.ts'
import { basisOf, type ReportQuery, type Usage, useMix, widthFor } from './queries.ts'
import { Section } from './section.tsx'

type Result = Usage['data'][number]['results'][number]

export function ModelMix({ query, basis }: { query: ReportQuery; basis: CostBasis }) {
  const report = useMix(query, 'all', basis)
  const settings = useSettings()
  const width = widthFor(query)
  const { data: trend } = useMix(query, width, basis)
  const { data } = report
  const models = data?.data[0]?.results ?? []
  return (
    <Section
      title="Models"
      roomPx={1_060}
      found={data && mixInWords(models, data)}
      note={`Shares of the known ${BASIS_TITLES[basis].toLowerCase()} and of all tokens. Entries of which it is unknown have tokens alone.`}
      csv={
        models.length > 0
          ? { path: '/reports/usage', query: { ...query, ...basisOf(basis), group_by: ['model'], bucket_width: 'all' } }
          : undefined
      }
      request={report}
    >
      {trend && models.length > 0 && (
        <Chart
          label={`Share of ${BASIS_TITLES[basis].toLowerCase()} over time by model`}
          kind="share"
          points={trend.data.map(({ starting_at }) => pointOf(starting_at, width, settings))}
          series={seriesOf(models, trend)}
          format={AMOUNTS.money}
        />
      )}
      {data && (
        <DataTable
          label="Shares of models"
          columns={columnsOf(query, data)}
          list={models}
          rowKey={({ model }) => model ?? ''}
          empty={<Empty title="No usage in this period">Choose a longer period, or remove a filter.</Empty>}
          foot={{
            model: 'Total',
            cost: (
              <FigureLink figure="cost" value={data.totals.cost} basis={data.basis} to={entriesAddress(query, query)}>
                <Money amount={data.totals.cost} />
              </FigureLink>
            ),
            tokens: (
              <FigureLink figure="tokens" value={data.totals.tokens.total} to={entriesAddress(query, query)}>
                <Count value={data.totals.tokens.total} />
              </FigureLink>
            ),
          }}
        />
      )}
    </Section>
  )
}

type Amounts = Pick<Result, 'cost' | 'tokens'>

function costShare({ cost }: Amounts, totals: Pick<Amounts, 'cost'>): number | null {
  return cost === null || !totals.cost ? null : cost / totals.cost
}

function mixInWords(models: readonly Result[], { totals, basis }: Usage): string {
  const [first] = models
  if (!first) return 'No usage in this period.'
  const share = costShare(first, totals)
  const used = `${counted(models.length, 'model was', 'models were')} used.`
  return share === null
    ? used
    : `${used} ${first.model ?? 'No model'} had ${percent(share)} of the ${BASIS_TITLES[basis].toLowerCase()}.`
}

function columnsOf(query: ReportQuery, { totals, basis }: Usage): Column<Result>[] {
  const title = BASIS_TITLES[basis]
  const share = (value: number | null) => (value === null ? '–' : percent(value))
  return [
    cellColumn('model', 'Model', { minWidth: '180px', phone: 'title' }, ({ model }) => (
      <Anchor component={Link} href={entriesOf(query, model)} size="sm">
        <bdi>{model}</bdi>
      </Anchor>
    )),
    cellColumn('cost', title, { isNumber: true, width: '120px', phone: 'value' }, ({ cost, model }) => (
      <FigureLink figure="cost" value={cost} basis={basis} to={entriesOf(query, model)}>
        <Money amount={cost} />
      </FigureLink>
    )),
    cellColumn('cost_share', `Share of ${title.toLowerCase()}`, { isNumber: true, width: '130px' }, (result) =>
      share(costShare(result, totals)),
    ),
    cellColumn('tokens', 'Tokens', { isNumber: true, width: '100px', phone: 'hidden' }, ({ tokens, model }) => (
      <FigureLink figure="tokens" value={tokens.total} to={entriesOf(query, model)}>
        <Count value={tokens.total} />
      </FigureLink>
    )),
    cellColumn('token_share', 'Share of tokens', { isNumber: true, width: '140px' }, ({ tokens }) =>
      share(totals.tokens.total ? tokens.total / totals.tokens.total : null),
    ),
  ]
}

/** The list of exactly the entries that a report counts. */
function entriesOf(query: ReportQuery, model: string | null | undefined): string {
  const { status = COUNTED_STATUSES, superseded = 'false', ...others } = query
  return addressOf('/entries', { ...others, status, superseded, model: model ?? 'none' })
}

/** The models with the highest cost; more are hard to tell apart. */
const CHARTED = 6

/** The cost of models over time, and what is left of it. */
function seriesOf(models: readonly Result[], { data }: Usage): ChartSeries[] {
  const charted = models.slice(0, CHARTED).flatMap(({ model }) => model ?? [])
  const colors = colorsOf(charted)
  const costOf = (at: number, isOne: (result: Result) => boolean) =>
    data[at]!.results.filter(isOne).reduce((sum, { cost }) => sum + (cost ?? 0), 0)
  const series = charted.map(
    (model, index): ChartSeries => ({
      key: model,
      label: model,
      values: data.map((_, at) => costOf(at, (result) => result.model === model)),
      color: colors[index]!,
    }),
  )
  if (models.length <= CHARTED) return series
  const rest = data.map((_, at) => costOf(at, ({ model }) => !charted.includes(model ?? '')))
  return [...series, restSeries('Other models', rest)]
}
