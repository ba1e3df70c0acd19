/** The entries that a bill leaves out, by reason, with links to them. */
import { Anchor, Paper, Title } from '@mantine/core'
import { Link } from 'wouter'
import { counted } from '../../format/counts.ts'
import { Money } from '../../parts/figures.tsx'
import { PlainTable } from '../../parts/plain-table.tsx'
import { Caption, Note } from '../../parts/texts.tsx'
import { useSettings } from '../../server/me.ts'
import type { BillDocument } from './bill-body.ts'
import { reasonsIn } from './left-out-reasons.ts'
import { LeftOutSum } from './left-out-sum.tsx'

export function LeftOut({ document }: { document: BillDocument }) {
  const { approval_required, cost_basis } = useSettings()
  const found = reasonsIn(document, { isApprovalRequired: approval_required, costBasis: cost_basis })
  const seats = document.unused_seats
  if (found.length === 0 && !seats) {
    return <Note>Nothing is left out: the bill includes every entry in its scope and period.</Note>
  }
  return (
    <Paper withBorder p="md">
      <Title order={2} size="h6" mb={4}>
        Not on this bill
      </Title>
      <PlainTable
        label="Not on this bill"
        columns={[
          {
            key: 'reason',
            title: 'Reason',
            cell: ({ title, advice, href }) => (
              <>
                <Anchor component={Link} href={href} size="sm">
                  {title}
                </Anchor>
                <Caption>{advice}</Caption>
              </>
            ),
          },
          {
            key: 'entries',
            title: 'Entries',
            isNumber: true,
            cell: ({ isUnpriced, left, href }) => (
              <LeftOutSum left={left} href={href} isUnpriced={isUnpriced} basis={document.basis} />
            ),
          },
        ]}
        rows={found}
        rowKey={({ reason }) => reason}
        isHeadHidden
      />
      {seats && (
        <Caption>
          {counted(seats.seats, 'seat')} of plans that nobody used, <Money amount={seats.cost} />, not billed.
        </Caption>
      )}
    </Paper>
  )
}
