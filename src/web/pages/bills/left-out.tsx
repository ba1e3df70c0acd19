/** The entries that a bill leaves out, by reason, with links to them. */
import { Anchor, Paper, Table, Text, Title } from '@mantine/core'
import { Link } from 'wouter'
import { count } from '../../format/counts.ts'
import { Money } from '../../parts/figures.tsx'
import type { BillDocument } from './bill-body.ts'
import { reasonsIn } from './left-out-reasons.ts'

export function LeftOut({ document }: { document: BillDocument }) {
  const found = reasonsIn(document)
  if (found.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        Nothing is left out: the bill includes every entry in its scope and period.
      </Text>
    )
  }
  return (
    <Paper withBorder p="md">
      <Title order={2} size="h6" mb={4}>
        Not on this bill
      </Title>
      <Table fz="sm" verticalSpacing={4} horizontalSpacing={0}>
        <Table.Tbody>
          {found.map(({ reason, left, title, advice, href }) => (
            <Table.Tr key={reason}>
              <Table.Td>
                <Anchor component={Link} href={href} size="sm">
                  {title}
                </Anchor>
                <Text size="xs" c="dimmed">
                  {advice}
                </Text>
              </Table.Td>
              <Table.Td ta="right" style={{ whiteSpace: 'nowrap', verticalAlign: 'top' }}>
                {left.at_least && 'more than '}
                {count(left.entries)} {left.entries === 1 ? 'entry' : 'entries'}
                {reason !== 'unpriced' && (
                  <>
                    , <Money amount={left.cost} />
                  </>
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Paper>
  )
}
