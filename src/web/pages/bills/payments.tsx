/** The payments of a bill or the refunds of a credit note, and their reversal. */
import { Button, Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import { dayInWords } from '../../format/moments.ts'
import { billedMoney } from '../../format/money.ts'
import { ConfirmChange } from '../../parts/confirm.tsx'
import { Moment } from '../../parts/figures.tsx'
import { PlainTable } from '../../parts/plain-table.tsx'
import { Caption, Note } from '../../parts/texts.tsx'
import { answer, api } from '../../server/api.ts'
import type { Bill } from './bill-body.ts'
import { BillLink } from './bill-link.tsx'
import { Heading } from './heading.tsx'

type Payment = Bill['payments'][number]

export function Payments({ bill }: { bill: Bill }) {
  const [reversed, setReversed] = useState<Payment | null>(null)
  const { payments, balance, currency, kind, state } = bill
  return (
    <div>
      <Heading>{kind === 'bill' ? 'Payments' : 'Refunds'}</Heading>
      {payments.length === 0 ? (
        <Note>{kind === 'bill' ? 'No payments yet.' : 'No refunds yet.'}</Note>
      ) : (
        <PlainTable
          label={kind === 'bill' ? 'Payments' : 'Refunds'}
          columns={[
            {
              key: 'payment',
              title: kind === 'bill' ? 'Payment' : 'Refund',
              cell: (payment) => <Origin payment={payment} />,
            },
            {
              key: 'amount',
              title: 'Amount',
              isNumber: true,
              cell: (payment) => <Amount payment={payment} bill={bill} reverse={() => setReversed(payment)} />,
            },
          ]}
          rows={payments}
          rowKey={({ number }) => String(number)}
          isHeadHidden
        />
      )}
      {state === 'sent' && payments.length > 0 && (
        <Text size="sm" mt="xs">
          {billedMoney(balance, currency)} open
        </Text>
      )}
      {reversed && <ReverseDialog bill={bill} payment={reversed} close={() => setReversed(null)} />}
    </div>
  )
}

function Origin({ payment: { on, reference, offset_against, created_by, reversed } }: { payment: Payment }) {
  return (
    <>
      {dayInWords(on)}
      <Caption>
        {offset_against ? (
          <>
            Offset against <BillLink {...offset_against} />
          </>
        ) : (
          <>
            {reference && (
              <>
                <bdi>{reference}</bdi> ·{' '}
              </>
            )}
            recorded by {created_by?.name ?? 'the command line'}
          </>
        )}
      </Caption>
      {reversed && (
        <Text size="xs">
          Reversed <Moment at={reversed.at} /> by {reversed.by?.name ?? 'the command line'}:{' '}
          <bdi>{reversed.reason}</bdi>
        </Text>
      )}
    </>
  )
}

function Amount({ payment, bill, reverse }: { payment: Payment; bill: Bill; reverse: () => void }) {
  const { amount, number, offset_against, reversed } = payment
  const mayBeReversed = reversed === null && offset_against === null
  return (
    <>
      <Text size="sm" td={reversed ? 'line-through' : undefined} c={reversed ? 'dimmed' : undefined}>
        {billedMoney(amount, bill.currency)}
      </Text>
      {mayBeReversed && (
        <Button variant="subtle" size="compact-xs" aria-label={`Reverse payment ${number}`} onClick={reverse}>
          Reverse…
        </Button>
      )}
    </>
  )
}

function ReverseDialog({ bill, payment, close }: { bill: Bill; payment: Payment; close: () => void }) {
  const [reason, setReason] = useState('')
  return (
    <ConfirmChange
      isOpen
      close={close}
      title={`Reverse payment of ${billedMoney(payment.amount, bill.currency)}?`}
      action="Reverse payment"
      isDangerous
      isIncomplete={reason.trim() === ''}
      send={() =>
        answer(
          api
            .bills({ id: bill.id })
            .payments({ payment: String(payment.number) })
            .reverse.post({ reason: reason.trim() }),
        )
      }
      changes={['bills', 'audit']}
      done={() => 'Payment reversed.'}
    >
      <Text size="sm">
        For a payment that was recorded by mistake or returned. It stays listed, but no longer counts; the client gets
        no e-mail.
      </Text>
      <Textarea
        label="Reason"
        autosize
        minRows={2}
        required
        data-autofocus
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
      />
    </ConfirmChange>
  )
}
