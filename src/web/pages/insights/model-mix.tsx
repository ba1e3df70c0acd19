/** The shares of models in cost and tokens. */
import { Anchor } from '@mantine/core'
import { Link } from 'wouter'
import { addressOf } from '../../address.ts'
import { counted, percent } from '../../format/counts.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Count, Money } from '../../parts/figures.tsx'
import { type Asked, type Usage, useMix, widthFor } from './queries.ts'
import { Section } from './section.tsx'
import { Spark } from './spark.tsx'

type Result = Usage['data'][number]['results'][number]

export function ModelMix({ asked }: { asked: Asked }) {
  const report = useMix(asked, 'all')
  const { data: course } = useMix(asked, widthFor(asked))
  const { data } = report
  const models = data?.data[0]?.results ?? []
  return (
    <Section
      title="Models"
      found={data && mixInWords(models, data.totals)}
      note="Shares of the known cost and of all tokens. Entries without a price have tokens, but no cost."
      asked={report}
    >
      {data && (
        <DataTable
          label="Shares of models"
          columns={columnsOf(asked, data.totals, course)}
          list={models}
          rowKey={({ model }) => model ?? ''}
          empty={<Empty title="No usage in this period">Choose a longer period, or remove a filter.</Empty>}
          foot={{
            model: 'Total',
            cost: <Money amount={data.totals.cost} />,
            tokens: <Count value={data.totals.tokens.total} />,
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

function mixInWords(models: readonly Result[], totals: Usage['totals']): string {
  const [first] = models
  if (!first) return 'No usage in this period.'
  const share = costShare(first, totals)
  const used = `${counted(models.length, 'model was', 'models were')} used.`
  return share === null ? used : `${used} ${first.model ?? 'No model'} had ${percent(share)} of the cost.`
}

function columnsOf(asked: Asked, totals: Usage['totals'], course: Usage | undefined): Column<Result>[] {
  const share = (value: number | null) => (value === null ? '–' : percent(value))
  const sharesOf = ({ model }: Result) =>
    (course?.data ?? []).map(({ results }) => {
      const cost = results.reduce((sum, result) => sum + (result.cost ?? 0), 0)
      const same = results.find((result) => result.model === model)
      return same ? costShare(same, { cost }) : null
    })
  return [
    {
      key: 'model',
      title: 'Model',
      minWidth: '180px',
      phone: 'title',
      cell: ({ model }) => (
        <Anchor component={Link} href={entriesOf(asked, model)} size="sm">
          <bdi>{model}</bdi>
        </Anchor>
      ),
    },
    {
      key: 'cost',
      title: 'Cost',
      isNumber: true,
      width: '120px',
      phone: 'value',
      cell: ({ cost }) => <Money amount={cost} />,
    },
    {
      key: 'cost_share',
      title: 'Share of cost',
      isNumber: true,
      width: '130px',
      cell: (result) => share(costShare(result, totals)),
    },
    {
      key: 'course',
      title: 'Over time',
      width: '150px',
      phone: 'hidden',
      cell: (result) => <Spark label={`Share of cost of ${result.model}`} shares={sharesOf(result)} />,
    },
    {
      key: 'tokens',
      title: 'Tokens',
      isNumber: true,
      width: '100px',
      phone: 'hidden',
      cell: ({ tokens }) => <Count value={tokens.total} />,
    },
    {
      key: 'token_share',
      title: 'Share of tokens',
      isNumber: true,
      width: '140px',
      cell: ({ tokens }) => share(totals.tokens.total ? tokens.total / totals.tokens.total : null),
    },
  ]
}

/** The statuses that reports count, unless the page asks for others. */
const COUNTED = ['submitted', 'approved', 'rejected', 'billed']

function entriesOf(asked: Asked, model: string | null | undefined): string {
  const counted = { ...asked, status: asked.status ?? COUNTED, superseded: asked.superseded ?? 'false' }
  return addressOf('/entries', { ...counted, model: model ?? 'none' })
}
