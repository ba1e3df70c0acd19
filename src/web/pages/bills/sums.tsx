/** What the bills of a list sum up to, by currency. */
import { Anchor, Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { counted } from '../../format/counts.ts'
import { billedMoney } from '../../format/money.ts'
import { figure } from '../../parts/figure-link.tsx'
import { Note } from '../../parts/texts.tsx'
import { type BillFilter, billSumsQuery } from './first-requests.ts'

interface BillSumsProps {
  /** Of which bills, where there are several sums. */
  title?: string
  query: BillFilter
  /** The address of the bills in a state, otherwise with the filters of this list: the total of that list is the sum. */
  listOf: (state: 'sent' | 'overdue') => string
}

export function BillSums({ title, query, listOf }: BillSumsProps) {
  const { data: sums } = useQuery({ ...billSumsQuery(query), placeholderData: (before) => before })
  return sums?.data.map(({ currency, bills, total, balance, credit, overdue }) => {
    const name = title !== undefined && (sums.data.length > 1 ? `${title}, ${currency}` : title)
    return (
      <Group key={currency} gap="2px 20px" {...(name && { role: 'group', 'aria-label': name })}>
        {name && (
          <Text size="sm" fw={600} miw={120}>
            {name}
          </Text>
        )}
        {[counted(bills, 'bill'), `${billedMoney(total, currency)} total`].map((text) => (
          <Note key={text}>{text}</Note>
        ))}
        {balance === 0 ? (
          <Note>{billedMoney(balance, currency)} open</Note>
        ) : (
          <Anchor component={Link} href={listOf('sent')} size="sm">
            <span {...figure(`open ${currency}`, balance)}>{billedMoney(balance, currency)}</span> open
          </Anchor>
        )}
        {overdue !== 0 && (
          <Anchor component={Link} href={listOf('overdue')} size="sm" c="var(--mantine-color-error)">
            <span {...figure(`open ${currency}`, overdue)}>{billedMoney(overdue, currency)}</span> overdue
          </Anchor>
        )}
        {credit !== 0 && (
          <Anchor
            component={Link}
            href={listOf('sent')}
            size="sm"
            title="Of credit notes, neither refunded nor offset; not part of the open amount"
          >
            <span {...figure(`credit ${currency}`, credit)}>{billedMoney(credit, currency)}</span> open credit
          </Anchor>
        )}
      </Group>
    )
  })
}
