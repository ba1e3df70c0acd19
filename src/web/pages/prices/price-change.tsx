/** The price of a model before and after it is set, from a dry run. */
import { Stack, Text } from '@mantine/core'
import { chargesTexts, tierTexts } from '../../../shared/price-texts.ts'
import { counted } from '../../format/counts.ts'
import { money } from '../../format/money.ts'
import { cellColumn } from '../../parts/columns.tsx'
import { type PlainColumn, PlainTable } from '../../parts/plain-table.tsx'
import { Note } from '../../parts/texts.tsx'
import { EffectiveFrom } from './effective-from.tsx'
import { KINDS, priceText, providerText, type SetPrice, sourceText } from './price.ts'

export const PriceChange = ({ of: { added, before, after, kept, valued } }: { of: SetPrice }) => (
  <Stack gap="xs" aria-live="polite">
    <Text size="sm" fw={600}>
      {added ? 'Preview' : 'This price is already set: nothing would change.'}
    </Text>
    <Note>
      {before
        ? `Replaces ${before.model} at ${providerText(before.provider)} (${sourceText(before.source)}), `
        : 'This model has no price at that time. The new one is in effect '}
      from <EffectiveFrom at={after.effective_from} />.
    </Note>
    <PlainTable
      label="Price before and after"
      columns={columnsOf({ before, after, kept })}
      rows={KINDS}
      rowKey={({ kind }) => kind}
      isMuted={({ kind }) => kept.includes(kind)}
    />
    {otherCharges(after).map((text) => (
      <Note key={text}>{text}</Note>
    ))}
    {before &&
      otherCharges(before)
        .filter((text) => !otherCharges(after).includes(text))
        .map((text) => (
          <Note key={text} td="line-through">
            {text}
          </Note>
        ))}
    {valued.entries > 0 && (
      <Text size="sm">
        {counted(valued.entries, 'entry', 'entries')} without a price {valued.entries === 1 ? 'gets' : 'get'} one:{' '}
        {money(valued.list_value.after)}
        {valued.complete ? '' : ' or more'}.
      </Text>
    )}
  </Stack>
)

function columnsOf({ before, after, kept }: Pick<SetPrice, 'before' | 'after' | 'kept'>) {
  const columns: PlainColumn<(typeof KINDS)[number]>[] = [
    cellColumn('price', 'Price', {}, ({ title }) => title),
    cellColumn('after', 'After', { isNumber: true }, ({ kind }) =>
      before && before[kind] !== after[kind] ? <b>{priceText(after[kind])}</b> : priceText(after[kind]),
    ),
    cellColumn('kept', '', {}, ({ kind }) => kept.includes(kind) && 'unchanged'),
  ]
  if (before) {
    columns.splice(
      1,
      0,
      cellColumn('before', 'Before', { isNumber: true }, ({ kind }) => priceText(before[kind])),
    )
  }
  return columns
}

const otherCharges = (price: SetPrice['after']): string[] => [
  ...tierTexts(price.tiers, priceText),
  ...chargesTexts(price, priceText),
]
