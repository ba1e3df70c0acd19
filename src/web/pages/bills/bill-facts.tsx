/** Next to the bill: internal details, deliveries and history. */
import { Anchor, Divider, Group, Stack, Text, Timeline } from '@mantine/core'
import { Fragment, type ReactNode } from 'react'
import { Link } from 'wouter'
import { BASIS_TITLES } from '../../../shared/cost-basis.ts'
import { say } from '../../../shared/sentences.ts'
import { addressOf } from '../../address.ts'
import { count, counted } from '../../format/counts.ts'
import { dayInWords } from '../../format/moments.ts'
import { Ago, Moment, Money } from '../../parts/figures.tsx'
import { PlainTable } from '../../parts/plain-table.tsx'
import { Sentence } from '../../parts/sentence.tsx'
import { Status } from '../../parts/status.tsx'
import { Caption, Note } from '../../parts/texts.tsx'
import { useRole } from '../../server/me.ts'
import { amountOf, type Bill } from './bill-body.ts'
import { BillLink } from './bill-link.tsx'
import { Heading } from './heading.tsx'
import classes from './paper.module.css'
import { Payments } from './payments.tsx'

export const BillFacts = ({ bill }: { bill: Bill }) => (
  <Stack gap="lg">
    <Inside bill={bill} />
    <Divider />
    <Payments bill={bill} />
    <Divider />
    <Deliveries bill={bill} />
    <Divider />
    <History bill={bill} />
  </Stack>
)

/** Details that the client does not see. */
function Inside({ bill }: { bill: Bill }) {
  const { document, entries } = bill
  const facts: [string, ReactNode][] = [
    ['Entries', count(entries)],
    [`${BASIS_TITLES[bill.basis]}${bill.provisional ? ' (provisional)' : ''}`, <Money key="" amount={document.cost} />],
    ['List value', <Money key="" amount={document.list_value} />],
    ['Exchange rate', document.currency === 'USD' ? null : `1 USD = ${document.exchange_rate} ${document.currency}`],
    ['Corrects', bill.corrects && <BillLink {...bill.corrects} />],
    ['Replaces', bill.replaces && <BillLink {...bill.replaces} />],
    ['Corrected by', linksOf(bill.corrected_by)],
    ['Not credited', bill.corrected_by.length > 0 && bill.remaining && amountIn(bill, bill.remaining.total)],
    ['Replaced by', linksOf(bill.replaced_by)],
  ]
  return (
    <div>
      <Heading>Details</Heading>
      <dl className={classes.facts}>
        {facts.map(
          ([label, value]) =>
            value && (
              <Fragment key={label}>
                <dt>{label}</dt>
                <dd>{value}</dd>
              </Fragment>
            ),
        )}
      </dl>
    </div>
  )
}

const amountIn = ({ currency, document }: Bill, amount: number) =>
  `${amountOf(amount, document.minor_digits)} ${currency}`

const linksOf = (bills: Bill['corrected_by']) =>
  bills.length === 0 ? null : bills.map(({ id, number }) => <BillLink key={id} id={id} number={number} />)

const Deliveries = ({ bill: { deliveries } }: { bill: Bill }) => (
  <div>
    <Heading>E-mails</Heading>
    {deliveries.length === 0 ? (
      <Note>No e-mails yet. Send the bill by e-mail, or download the PDF.</Note>
    ) : (
      <PlainTable
        label="E-mails"
        columns={[
          { key: 'to', title: 'Recipient', cell: (delivery) => <Recipient delivery={delivery} /> },
          { key: 'state', title: 'Status', isNumber: true, cell: ({ state }) => <Status of={state} /> },
        ]}
        rows={deliveries}
        rowKey={({ to, created_at, notice }) => `${to} ${created_at} ${notice}`}
        isHeadHidden
      />
    )}
  </div>
)

function Recipient({ delivery }: { delivery: Bill['deliveries'][number] }) {
  const { to, notice, state, answer, sent_at, next_attempt_at, attempts } = delivery
  return (
    <>
      {to}
      <Caption>
        {notice === 'void' && 'Void notice. '}
        {notice === 'reminder' && 'Reminder. '}
        {sent_at ? (
          <Ago at={sent_at} />
        ) : next_attempt_at && attempts > 0 ? (
          <>
            {counted(attempts, 'attempt')}; next attempt at <Moment at={next_attempt_at} />
          </>
        ) : null}
      </Caption>
      {answer && state !== 'sent' && <Text size="xs">{answer}</Text>}
    </>
  )
}

function History({ bill }: { bill: Bill }) {
  const { created_at, created_by, paid, void: voided } = bill
  const isAdmin = useRole('admin')
  const name = bill.kind === 'bill' ? 'bill' : 'credit note'
  return (
    <div>
      <Group justify="space-between" align="baseline">
        <Heading>History</Heading>
        {isAdmin && (
          <Anchor component={Link} href={addressOf('/audit', { object: bill.id })} size="sm">
            All changes
          </Anchor>
        )}
      </Group>
      <Timeline bulletSize={12} lineWidth={2} active={9}>
        <Timeline.Item
          title={
            <Text size="sm">
              <Sentence of={say`${created_by ?? 'The command line on the server'} sent the ${name}`} />
            </Text>
          }
        >
          <When>
            <Moment at={created_at} />
          </When>
        </Timeline.Item>
        {paid && (
          <Timeline.Item
            title={
              <Text size="sm">
                <Sentence
                  of={say`The ${name} was paid in full${paid.reference ? say`: ${{ name: paid.reference }}` : ''}`}
                />
              </Text>
            }
          >
            <When>{dayInWords(paid.on)}</When>
          </Timeline.Item>
        )}
        {voided && (
          <Timeline.Item
            color="red"
            title={
              <Text size="sm">
                <Sentence of={say`The ${name} was voided: ${{ name: voided.reason }}`} />
              </Text>
            }
          >
            <When>
              <Moment at={voided.at} />
            </When>
          </Timeline.Item>
        )}
      </Timeline>
    </div>
  )
}

const When = ({ children }: { children: ReactNode }) => <Caption>{children}</Caption>
