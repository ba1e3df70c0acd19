/** One bill: its printed form, its delivery and history, and its actions. */
import { Alert, Grid, Group, Skeleton, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { dayInWords } from '../../format/moments.ts'
import { billedMoney } from '../../format/money.ts'
import { Failure } from '../../parts/failure.tsx'
import { Moment } from '../../parts/figures.tsx'
import { Page } from '../../parts/page.tsx'
import { Status } from '../../parts/status.tsx'
import { Note } from '../../parts/texts.tsx'
import { useSettings } from '../../server/me.ts'
import { BillActions } from './bill-actions.tsx'
import { askBill, type Bill, type BillLine, scopeOf } from './bill-body.ts'
import { BillFacts } from './bill-facts.tsx'
import { BillLink } from './bill-link.tsx'
import { LineEntries } from './line-entries.tsx'
import classes from './paper.module.css'
import { BillPaper } from './paper.tsx'

/** Polling interval while an e-mail is queued. */
const DELIVERING_MS = 5_000

export function BillPage({ id }: { id: string }) {
  const {
    data: bill,
    error,
    refetch,
  } = useQuery({
    queryKey: ['bills', id],
    queryFn: ({ signal }) => askBill(id, signal),
    refetchInterval: ({ state }) => (state.data?.delivery === 'queued' ? DELIVERING_MS : false),
  })
  const above = { href: '/bills', title: 'Bills' }
  if (error && !bill) {
    return (
      <Page title="Bill" above={above}>
        <Failure error={error} retry={refetch} />
      </Page>
    )
  }
  if (!bill) {
    return (
      <Page title="Bill" above={above}>
        <Skeleton height={480} />
      </Page>
    )
  }
  return <SentBill bill={bill} />
}

function SentBill({ bill }: { bill: Bill }) {
  const [line, setLine] = useState<BillLine | null>(null)
  return (
    <Page
      title={
        <Group gap="xs" component="span">
          {bill.kind === 'bill' ? 'Bill' : 'Credit note'} {bill.number}{' '}
          <Status of={bill.overdue ? 'overdue' : bill.state} />
        </Group>
      }
      above={{ href: '/bills', title: 'Bills' }}
      lead={<bdi>{scopeOf(bill)}</bdi>}
      actions={<BillActions bill={bill} />}
    >
      <Grid gap="xl">
        <Grid.Col span={{ base: 12, lg: 8 }}>
          <Stack className={classes.printed}>
            <Notice bill={bill} />
            <BillPaper document={bill.document} openLine={setLine} picture={<Picture />} />
            {bill.entries > 0 && <Note>Select a line to see its entries.</Note>}
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 4 }}>
          <BillFacts bill={bill} />
        </Grid.Col>
      </Grid>
      <LineEntries bill={bill} line={line} close={() => setLine(null)} />
    </Page>
  )
}

/** The organization's logo, as on the documents. */
function Picture() {
  const { logo } = useSettings()
  if (!logo) return null
  return (
    <img
      src="/api/v1/settings/logo"
      alt=""
      style={{ display: 'block', maxHeight: 64, maxWidth: 224, marginBottom: 12 }}
    />
  )
}

/** The notice above the bill: void, failed delivery, overdue or corrected. */
function Notice({ bill }: { bill: Bill }) {
  if (bill.state === 'void') {
    return (
      <Alert
        color="red"
        variant="light"
        title={bill.kind === 'bill' ? 'This bill is void' : 'This credit note is void'}
      >
        <Text size="sm" style={{ whiteSpace: 'pre-line' }} dir="auto">
          {bill.void?.reason}
        </Text>
        <Note>
          Voided <Moment at={bill.void?.at ?? null} />.{' '}
          {bill.kind === 'bill'
            ? 'Its entries are released and can be billed again. Lines show their current state.'
            : `It no longer reduces what bill ${bill.corrects?.number} charges.`}
        </Note>
      </Alert>
    )
  }
  if (bill.delivery === 'failed') {
    return (
      <Alert color="red" variant="light" title="E-mail delivery failed">
        The mail server’s response is listed under E-mails. Send the bill again, to another address if necessary, or
        download the PDF.
      </Alert>
    )
  }
  if (bill.overdue) {
    return (
      <Alert color="orange" variant="light" title={`Overdue since ${dayInWords(bill.due_on)}`}>
        {billedMoney(bill.balance, bill.currency)} is open. Record the payment once you receive it, or send the bill
        again.
      </Alert>
    )
  }
  if (bill.corrected_by.length > 0) {
    return (
      <Alert color="blue" variant="light" title="Corrected">
        See credit note{' '}
        {bill.corrected_by.map(({ id, number }) => (
          <BillLink key={id} id={id} number={number} />
        ))}
        {bill.released_by && '. Its entries are released and can be billed again. Lines show their current state.'}
      </Alert>
    )
  }
  return null
}
