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
        <Text size="sm">Parsed as {format === 'tally' ? 'Tally’s own format' : sourceText(format)}:</Text>
        <Counted of={counts.new} what="new" color="teal" />
        <Counted of={counts.changed} what="changed" color="blue" />
        <Counted of={counts.unchanged} what="unchanged" />
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
      {table.changed.length > 0 && (
        <Listed title="Changed" all={table.changed.length} head={PRICE_HEAD} numbersFrom={1}>
          {table.changed.slice(0, SHOWN).map(({ before, after }) => (
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
            </Table.Tr>
          ))}
        </Listed>
      )}
      {table.new.length > 0 && (
        <Listed title="New" all={table.new.length} head={PRICE_HEAD} numbersFrom={1}>
          {table.new.slice(0, SHOWN).map((row) => (
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
      )}
      <PassedOver table={table} />
    </Stack>
  )
}

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
  /** Index of the first numeric column; the last column is not numeric. */
  numbersFrom?: number
  children: ReactNode
}

const Listed = ({ title, all, head, numbersFrom, children }: ListedProps) => (
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
                ta={numbersFrom !== undefined && index >= numbersFrom && index < head.length - 1 ? 'right' : undefined}
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
