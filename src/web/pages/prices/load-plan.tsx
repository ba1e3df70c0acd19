/** What loading a price table would change, from a dry run. */
import { Alert, Badge, Group, Stack, Text } from '@mantine/core'
import { count, counted, percent, percentChange } from '../../format/counts.ts'
import { cellColumn, exactCountColumn, textColumn } from '../../parts/columns.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Caption, CardTitle } from '../../parts/texts.tsx'
import { EffectiveFrom } from './effective-from.tsx'
import { KINDS, type Kind, type LoadedTable, priceText, providerText, sourceText } from './price.ts'
import { PriceCell } from './price-cell.tsx'
import { reasonText } from './rejected-price.ts'

type Price = LoadedTable['new'][number]
type Replacement = LoadedTable['changed'][number]

/** Rows shown of each kind at first: published tables have thousands. */
const SHOWN = 10

export function LoadPlan({ table, isStale }: { table: LoadedTable; isStale: boolean }) {
  const { counts, format } = table
  return (
    <Stack gap="md" opacity={isStale ? 0.55 : 1} aria-live="polite">
      <Group gap="xs">
        <Text size="sm">
          Parsed as {format === 'tally' ? 'Tally’s own format' : sourceText(format)}, as of {table.as_of} (
          {AS_OF_TEXTS[table.as_of_from]}):
        </Text>
        <Counted of={counts.new} what="new" color="teal" />
        <Counted of={counts.changed} what="changed" color="blue" />
        <Counted of={counts.same_price} what="same price, new source" />
        <Counted of={counts.overridden} what="overridden by a custom price" color="orange" />
        <Counted of={counts.older} what="older, skipped" color="orange" />
        <Counted of={counts.unchanged} what="unchanged" />
        <Counted of={counts.removed} what="no longer listed" color="orange" />
        <Counted of={counts.refused} what="rejected" color="red" />
        <Counted of={counts.skipped} what="skipped" />
        <Counted of={counts.aliases} what="aliases" />
        <Counted of={counts.rounded} what="rounded" color="orange" />
      </Group>
      <Listed title="Rejected" rows={table.refused} rowKey={nameOf} columns={REFUSED} name="rejected-prices" />
      <Listed
        title="Models in use whose price changes"
        rows={table.in_use}
        rowKey={({ provider, model }) => `${provider} ${model}`}
        columns={IN_USE}
        name="repriced-models-in-use"
      />
      <Removed table={table} />
      <Replacements title="Changed" rows={table.changed} />
      <Replacements title="Added, but a custom price still applies" rows={table.overridden} />
      <Replacements title="Skipped, because the prices in use are newer" rows={table.older} />
      <Additions title="New" rows={table.new} />
      <Additions title="No longer in the table: these prices stay in force" rows={table.removed} />
      <PassedOver table={table} />
    </Stack>
  )
}

const isRemoved = ({ kind }: { kind: Kind }, { before, after }: { before: Price | null; after: Price | null }) =>
  before !== null && after !== null && before[kind] !== null && after[kind] === null

/** Prices that the table leaves out, such as those of a column that it does not have, and that the model had. */
function Removed({ table: { changed, in_use } }: { table: LoadedTable }) {
  const removed = changed.reduce((sum, row) => sum + KINDS.filter((kind) => isRemoved(kind, row)).length, 0)
  if (removed === 0) return null
  const models = in_use.filter((row) => KINDS.some((kind) => isRemoved(kind, row))).length
  return (
    <Alert color="orange" variant="light" title={`${counted(removed, 'price is', 'prices are')} removed`}>
      The table leaves out prices that its models have now
      {models > 0 && `; ${counted(models, 'of these models is', 'of these models are')} in use`}. Without a price of
      their own, tokens of the cache are valued at the input price. To keep these prices, add them to the table.
    </Alert>
  )
}

const AS_OF_TEXTS = {
  given: 'as you stated',
  contents: 'the date in the file',
  models: 'the newest date of a model in the file',
  modified: 'when the file was last modified',
  today: 'today, because the table has no date',
} as const

/** `Built-in table, 2026-11-12`: where a price is from, and how recent it is. */
const originOf = ({ source, as_of }: Price) => [sourceText(source), as_of].filter(Boolean).join(', ')

const rowKey = ({ provider, model, effective_from }: Price) => `${provider} ${model} ${effective_from}`
const nameOf = ({ provider, model }: Pick<Price, 'provider' | 'model'>) => `${model} · ${providerText(provider)}`

const Additions = ({ title, rows }: { title: string; rows: Price[] }) => (
  <Listed title={title} rows={rows} rowKey={rowKey} columns={ADDITIONS} name="loaded-prices" />
)

/** Rows with the price before and after. */
const Replacements = ({ title, rows }: { title: string; rows: Replacement[] }) => (
  <Listed
    title={title}
    rows={rows}
    rowKey={({ after }) => rowKey(after)}
    columns={REPLACEMENTS}
    name="replaced-prices"
  />
)

interface ListedProps<Row> {
  title: string
  rows: readonly Row[]
  rowKey: (row: Row) => string
  columns: readonly Column<Row>[]
  /** Of the table in the person's preferences. */
  name: string
}

const Listed = <Row,>({ title, rows, ...table }: ListedProps<Row>) =>
  rows.length > 0 && (
    <Stack gap={4} component="section">
      <CardTitle>{title}</CardTitle>
      <DataTable label={title} list={rows} fold={SHOWN} empty={null} {...table} />
    </Stack>
  )

/** The columns that a table of prices begins and ends with. */
const modelColumn = <Row,>(of: (row: Row) => Pick<Price, 'provider' | 'model'>): Column<Row> =>
  textColumn('model', 'Model', (row) => nameOf(of(row)), { minWidth: '200px', phone: 'title' })
const fromColumn = <Row,>(of: (row: Row) => Price): Column<Row> =>
  cellColumn('from', 'Effective from', { value: (row) => of(row).effective_from, width: '124px' }, (row) => (
    <EffectiveFrom at={of(row).effective_from} />
  ))
const widthOf = (kind: Kind) => (kind === 'cache_write_1h' ? '124px' : '104px')

const ADDITIONS: Column<Price>[] = [
  modelColumn((row) => row),
  ...KINDS.map(
    ({ kind, title }): Column<Price> =>
      cellColumn(kind, title, { value: (row) => row[kind], isNumber: true, width: widthOf(kind) }, (row) => (
        <PriceCell price={row[kind]} />
      )),
  ),
  fromColumn((row) => row),
]

const REPLACEMENTS: Column<Replacement>[] = [
  modelColumn(({ after }) => after),
  ...KINDS.map(
    ({ kind, title }): Column<Replacement> =>
      cellColumn(
        kind,
        title,
        { value: ({ after }) => after[kind], isNumber: true, width: widthOf(kind) },
        ({ before, after }) => <Changed before={before[kind]} after={after[kind]} />,
      ),
  ),
  fromColumn(({ after }) => after),
  cellColumn('as_of', 'As of', { value: ({ after }) => after.as_of, minWidth: '220px' }, ({ before, after }) => (
    <>
      <Caption>{originOf(before)} →</Caption>
      {originOf(after)}
    </>
  )),
]

/** The largest change of a single price, which the API returns without its sign; undefined if it is of another price. */
function signedChange({ before, after, change }: LoadedTable['in_use'][number]): number | undefined {
  if (change === null || !before || !after) return undefined
  const changes = KINDS.map(({ kind }) => ((after[kind] ?? 0) - (before[kind] ?? 0)) / (before[kind] ?? 0))
  return changes.find((each) => Math.abs(Math.abs(each) - change) < ROUNDING)
}

/** Of a division. */
const ROUNDING = 1e-9

/** The models of recent entries that get another price. */
const IN_USE: Column<LoadedTable['in_use'][number]>[] = [
  cellColumn(
    'model',
    'Model',
    { value: ({ model }) => model, minWidth: '200px', phone: 'title' },
    ({ model, provider }) => <bdi>{[model, provider].filter(Boolean).join(' · ')}</bdi>,
  ),
  exactCountColumn('entries', 'Entries', ({ entries }) => entries, { width: '100px' }),
  cellColumn(
    'change',
    'Change',
    { value: (row) => signedChange(row) ?? row.change, isNumber: true, width: '100px', phone: 'value' },
    (row) => {
      const change = signedChange(row)
      if (change !== undefined) return percentChange(change)
      return row.change === null ? '–' : percent(row.change)
    },
  ),
  cellColumn(
    'table',
    'Table',
    { minWidth: '380px', phone: 'bare' },
    ({ before, after }) => `${before ? originOf(before) : 'no price'} → ${after ? originOf(after) : 'no price'}`,
  ),
]

const REFUSED: Column<LoadedTable['refused'][number]>[] = [
  modelColumn((row) => row),
  cellColumn(
    'reasons',
    'Reason',
    { value: ({ reasons }) => reasons.map(reasonText).join('; '), phone: 'bare' },
    ({ reasons }) => (
      <Text span inherit style={{ whiteSpace: 'normal' }}>
        {reasons.map(reasonText).join('; ')}
      </Text>
    ),
  ),
]

const Counted = ({ of, what, color = 'gray' }: { of: number; what: string; color?: string }) =>
  of > 0 && (
    <Badge color={color}>
      {count(of)} {what}
    </Badge>
  )

function Changed({ before, after }: { before: number | null; after: number | null }) {
  if (before === after) return <>{priceText(after)}</>
  return (
    <>
      <Caption span td="line-through">
        {priceText(before)}
      </Caption>{' '}
      <b>{priceText(after)}</b>
      {before !== null && after !== null && before > 0 && (
        <Caption>
          {after > before ? '+' : ''}
          {percent((after - before) / before)}
        </Caption>
      )}
    </>
  )
}

/** The number of rounded prices in the text below the tables; their count is above. */
const ROUNDED = 100

function PassedOver({ table: { skipped, unused, rounded } }: { table: LoadedTable }) {
  const texts = [
    ...Object.entries(skipped).map(
      ([why, models]) => `${counted(models, 'model')} skipped: ${why.replaceAll('_', ' ')}`,
    ),
    ...Object.entries(unused).map(([column, prices]) => `${counted(prices, 'price')} of ${column} not used`),
    ...rounded
      .slice(0, ROUNDED)
      .map(({ model, text, price }) => `${model}: ${text} was rounded to ${priceText(price)}`),
  ]
  return texts.length === 0 ? null : <Caption>{texts.join('. ')}.</Caption>
}
