/** The price of a model before and after it is set, from a dry run. */
import { Stack, Table, Text } from '@mantine/core'
import { chargesTexts, tierTexts } from '../../../price-texts.ts'
import { counted } from '../../format/counts.ts'
import { money } from '../../format/money.ts'
import { EffectiveFrom } from './effective-from.tsx'
import { KINDS, priceText, providerText, type SetPrice, sourceText } from './price.ts'

export const PriceChange = ({ of: { added, before, after, kept, valued } }: { of: SetPrice }) => (
  <Stack gap="xs" aria-live="polite">
    <Text size="sm" fw={600}>
      {added ? 'Preview' : 'This price is already set: nothing would change.'}
    </Text>
    <Text size="sm" c="dimmed">
      {before
        ? `Replaces ${before.model} at ${providerText(before.provider)} (${sourceText(before.source)}), `
        : 'This model has no price at that time. The new one is in effect '}
      from <EffectiveFrom at={after.effective_from} />.
    </Text>
    <Table fz="sm" verticalSpacing={4} aria-label="Price before and after">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Price</Table.Th>
          {before && <Table.Th ta="right">Before</Table.Th>}
          <Table.Th ta="right">After</Table.Th>
          <Table.Th />
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {KINDS.map(({ kind, title }) => (
          <Table.Tr key={kind} c={kept.includes(kind) ? 'dimmed' : undefined}>
            <Table.Td>{title}</Table.Td>
            {before && <Table.Td ta="right">{priceText(before[kind])}</Table.Td>}
            <Table.Td ta="right" fw={before && before[kind] !== after[kind] ? 600 : undefined}>
              {priceText(after[kind])}
            </Table.Td>
            <Table.Td>{kept.includes(kind) && 'unchanged'}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
    {otherCharges(after).map((text) => (
      <Text key={text} size="sm" c="dimmed">
        {text}
      </Text>
    ))}
    {before &&
      otherCharges(before)
        .filter((text) => !otherCharges(after).includes(text))
        .map((text) => (
          <Text key={text} size="sm" c="dimmed" td="line-through">
            {text}
          </Text>
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

const otherCharges = (price: SetPrice['after']): string[] => [
  ...tierTexts(price.tiers, priceText),
  ...chargesTexts(price, priceText),
]
