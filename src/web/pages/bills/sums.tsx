/** What the bills of a list sum up to, by currency. */
import { Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { counted } from '../../format/counts.ts'
import { billedMoney } from '../../format/money.ts'
import { answer, type api, apiUntil } from '../../server/api.ts'

type Filter = NonNullable<NonNullable<Parameters<typeof api.bills.totals.get>[0]>['query']>

export function BillSums({ query }: { query: Filter }) {
  const { data: sums } = useQuery({
    queryKey: ['bills', 'totals', query],
    queryFn: ({ signal }) => answer(apiUntil(signal).bills.totals.get({ query })),
    placeholderData: (before) => before,
  })
  return sums?.data.map(({ currency, bills, total, balance, overdue }) => {
    const shown = [
      counted(bills, 'bill'),
      `${billedMoney(total, currency)} total`,
      `${billedMoney(balance, currency)} open`,
      ...(overdue === 0 ? [] : [`${billedMoney(overdue, currency)} overdue`]),
    ]
    return (
      <Group key={currency} gap="lg">
        {shown.map((text) => (
          <Text key={text} size="sm" c={text.endsWith('overdue') ? 'var(--mantine-color-error)' : 'dimmed'}>
            {text}
          </Text>
        ))}
      </Group>
    )
  })
}
