/** What loading a price table would change, from a dry run. */
import { Badge, Group, ScrollArea, Stack, Table, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { count, percent } from '../../format/counts.ts'
import { EffectiveFrom } from './effective-from.tsx'
import { KINDS, type LoadedTable, priceText, providerText, sourceText } from './price.ts'
import { reasonText } from './rejected-price.ts'

type Row = LoadedTable['new'][number]

/** Rows shown of each kind. Published tables have thousands; the counts cover all of them. */
const SHOWN = 100

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
      {table.refused.length > 0 && (
        <Listed title="Rejected" all={table.refused.length} head={['Model', 'Reason']}>
          {table.refused.slice(0, SHOWN).map(({ provider, model, reasons }) => (
            <Table.Tr key={`${provider} ${model}`}>
              <Table.Td>{nameOf({ provider, model })}</Table.Td>
              <Table.Td>{reasons.map(reasonText).join('; ')}</Table.Td>
            </Table.Tr>
          ))}
        </Listed>
      )}
      {table.in_use.length > 0 && <InUse differences={table.in_use} />}
      <Replacements title="Changed" all={table.changed} />
      <Replacements title="Added, but a custom price still applies" all={table.overridden} />
      <Replacements title="Skipped, because the prices in use are newer" all={table.older} />
      <Rows title="New" all={table.new} />
      <Rows title="No longer in the table: these prices stay in force" all={table.removed} />
      <PassedOver table={table} />
    </Stack>
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
const originOf = ({ source, as_of }: Row) => [sourceText(source), as_of].filter(Boolean).join(', ')

const Rows = ({ title, all }: { title: string; all: Row[] }) =>
  all.length > 0 && (
    <Listed title={title} all={all.length} head={PRICE_HEAD} numbersFrom={1}>
      {all.slice(0, SHOWN).map((row) => (
        <Table.Tr key={rowKey(row)}>
          <Table.Td>{nameOf(row)}</Table.Td>
          {KINDS.map(({ kind }) => (
            <Table.Td key={kind} ta="right">
              {priceText(row[kind])}
            </Table.Td>
          ))}
          <Table.Td>
            <EffectiveFrom at={row.effective_from} />
          </Table.Td>
        </Table.Tr>
      ))}
    </Listed>
  )

/** Rows with the price before and after. */
const Replacements = ({ title, all }: { title: string; all: LoadedTable['changed'] }) =>
  all.length > 0 && (
    <Listed title={title} all={all.length} head={[...PRICE_HEAD, 'As of']} numbersFrom={1} textColumns={2}>
      {all.slice(0, SHOWN).map(({ before, after }) => (
        <Table.Tr key={rowKey(after)}>
          <Table.Td>{nameOf(after)}</Table.Td>
          {KINDS.map(({ kind }) => (
            <Table.Td key={kind} ta="right">
              <Changed before={before[kind]} after={after[kind]} />
            </Table.Td>
          ))}
          <Table.Td>
            <EffectiveFrom at={after.effective_from} />
          </Table.Td>
          <Table.Td>
            <Text span size="xs" c="dimmed">
              {originOf(before)} →
            </Text>{' '}
            {originOf(after)}
          </Table.Td>
        </Table.Tr>
      ))}
    </Listed>
  )

/** The models of recent entries that get another price. */
const InUse = ({ differences }: { differences: LoadedTable['in_use'] }) => (
  <Listed
    title="Models in use whose price changes"
    all={differences.length}
    head={['Model', 'Entries', 'Change', 'Table']}
    numbersFrom={1}
  >
    {differences.slice(0, SHOWN).map(({ model, provider, entries, before, after, change }) => (
      <Table.Tr key={`${provider} ${model}`}>
        <Table.Td>{[model, provider].filter(Boolean).join(' · ')}</Table.Td>
        <Table.Td ta="right">{count(entries)}</Table.Td>
        <Table.Td ta="right">{change === null ? '–' : percent(change)}</Table.Td>
        <Table.Td>
          {before ? originOf(before) : 'no price'} → {after ? originOf(after) : 'no price'}
        </Table.Td>
      </Table.Tr>
    ))}
  </Listed>
)

const PRICE_HEAD = ['Model', ...KINDS.map(({ title }) => title), 'Effective from']
const rowKey = ({ provider, model, effective_from }: Row) => `${provider} ${model} ${effective_from}`
const nameOf = ({ provider, model }: Pick<Row, 'provider' | 'model'>) => `${model} · ${providerText(provider)}`

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
      <Text span size="xs" c="dimmed" td="line-through">
        {priceText(before)}
      </Text>{' '}
      <b>{priceText(after)}</b>
      {before !== null && after !== null && before > 0 && (
        <Text size="xs" c="dimmed">
          {after > before ? '+' : ''}
          {percent((after - before) / before)}
        </Text>
      )}
    </>
  )
}

interface ListedProps {
  title: string
  all: number
  head: readonly string[]
  /** Index of the first numeric column. */
  numbersFrom?: number
  /** Number of text columns at the end. */
  textColumns?: number
  children: ReactNode
}

const Listed = ({ title, all, head, numbersFrom, textColumns = 1, children }: ListedProps) => (
  <Stack gap={4}>
    <Title order={2} size="h5">
      {title}
    </Title>
    <ScrollArea.Autosize mah={320} type="auto" viewportProps={{ tabIndex: 0 }}>
      <Table fz="sm" verticalSpacing={4} aria-label={title} miw={numbersFrom === undefined ? undefined : 640}>
        <Table.Thead>
          <Table.Tr>
            {head.map((name, index) => (
              <Table.Th
                key={name}
                ta={
                  numbersFrom !== undefined && index >= numbersFrom && index < head.length - textColumns
                    ? 'right'
                    : undefined
                }
              >
                {name}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>{children}</Table.Tbody>
      </Table>
    </ScrollArea.Autosize>
    {all > SHOWN && (
      <Text size="xs" c="dimmed">
        Showing the first {SHOWN} of {count(all)}.
      </Text>
    )}
  </Stack>
)

function PassedOver({ table: { skipped, unused, rounded } }: { table: LoadedTable }) {
  const texts = [
    ...Object.entries(skipped).map(([why, models]) => `${count(models)} models skipped: ${why.replaceAll('_', ' ')}`),
    ...Object.entries(unused).map(([kind, prices]) => `${count(prices)} unused prices: ${kind.replaceAll('_', ' ')}`),
    ...rounded.slice(0, SHOWN).map(({ model, text, price }) => `${model}: ${text} was rounded to ${priceText(price)}`),
  ]
  return texts.length === 0 ? null : (
    <Text size="xs" c="dimmed">
      {texts.join('. ')}.
    </Text>
  )
}
