/** The periods of a plan: what became of each fee, and closing them. */
import { Anchor, Badge, Checkbox, Menu, Stack, Text, Textarea } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { addressOf } from '../../address.ts'
import { counted } from '../../format/counts.ts'
import { dayInWords, dayOf } from '../../format/moments.ts'
import { exactMoney } from '../../format/money.ts'
import { spanInWords } from '../../parts/budgets/budget.ts'
import { ConfirmChange } from '../../parts/confirm.tsx'
import type { EntryQuery } from '../../parts/entries/filters.ts'
import { Failure } from '../../parts/failure.tsx'
import { FigureLink } from '../../parts/figure-link.tsx'
import { Money } from '../../parts/figures.tsx'
import { RowActions } from '../../parts/more-actions.tsx'
import { ownPeriod } from '../../parts/period.ts'
import { PlainTable } from '../../parts/plain-table.tsx'
import { Caption, Note, SectionTitle } from '../../parts/texts.tsx'
import { answer, api, apiQuery, type Body } from '../../server/api.ts'
import { useSettings } from '../../server/me.ts'
import type { Plan } from './plan.ts'
import { CHANGES } from './plan-form.tsx'

type Period = Body<Awaited<ReturnType<ReturnType<(typeof api)['plans']>['periods']['get']>>>['data'][number]

const COLORS: Record<Period['state'], string> = { running: 'indigo', ended: 'yellow', closed: 'gray' }

export function Periods({ plan }: { plan: Plan }) {
  const [open, setOpen] = useState<{ do: 'close' | 'reopen'; period: Period } | null>(null)
  const { data, error, refetch } = useQuery(
    apiQuery(['plans', 'periods', plan.id], (api) => api.plans({ id: plan.id }).periods.get()),
  )
  const close = () => setOpen(null)
  return (
    <Stack gap="xs">
      <SectionTitle>Periods of the last twelve months</SectionTitle>
      {error && !data ? (
        <Failure error={error} retry={refetch} />
      ) : data?.data.length === 0 ? (
        <Note>Periods appear here from {dayInWords(plan.starts_on)} on.</Note>
      ) : (
        data && (
          <PlainTable
            label="Periods"
            columns={[
              { key: 'period', title: 'Period', cell: (period) => <SpanCell period={period} /> },
              {
                key: 'fee',
                title: 'Fee',
                isNumber: true,
                cell: ({ fee, currency, fee_usd }) => (
                  <>
                    <Money amount={fee_usd} />
                    {currency !== 'USD' && <Caption>{exactMoney(fee, currency)}</Caption>}
                  </>
                ),
              },
              {
                key: 'allocated',
                title: 'Allocated',
                isNumber: true,
                cell: (period) => <AllocatedCell plan={plan} period={period} />,
              },
              {
                key: 'actions',
                title: '',
                width: '48px',
                cell: (period) =>
                  period.state !== 'running' && (
                    <RowActions label={`Actions for the period from ${dayInWords(period.from)}`}>
                      {period.state === 'ended' ? (
                        <Menu.Item onClick={() => setOpen({ do: 'close', period })}>Close period</Menu.Item>
                      ) : (
                        <Menu.Item onClick={() => setOpen({ do: 'reopen', period })}>Reopen period</Menu.Item>
                      )}
                    </RowActions>
                  ),
              },
            ]}
            rows={data.data}
            rowKey={({ from }) => from}
          />
        )
      )}
      {open?.do === 'close' && <CloseForm plan={plan} period={open.period} close={close} />}
      {open?.do === 'reopen' && <ReopenForm plan={plan} period={open.period} close={close} />}
    </Stack>
  )
}

const SpanCell = ({ period }: { period: Period }) => (
  <>
    {spanInWords(period)}{' '}
    <Badge size="sm" variant="light" color={COLORS[period.state]}>
      {period.state}
    </Badge>
    {period.seats > 1 && <Caption>{counted(period.seats, 'seat')}</Caption>}
    {period.to !== period.whole_to && period.whole_to && (
      <Caption>shortened, would have ended on {dayInWords(period.whole_to)}</Caption>
    )}
  </>
)

function AllocatedCell({ plan, period }: { plan: Plan; period: Period }) {
  const { time_zone } = useSettings()
  const list = entriesOf(plan, period, dayOf(new Date(), time_zone))
  return (
    <>
      {/* The list has what is charged beside the fee as well, and none of the corrections. */}
      {isTotalOfEntries(period) ? (
        <CostOf list={list} value={period.entries_cost} />
      ) : (
        <>
          <Money amount={period.allocated} />
          {period.entries > 0 && (
            <Caption>
              its entries <CostOf list={list} value={period.entries_cost} />
              {period.charge !== 0 && `, of which ${exactMoney(period.charge)} in addition to the fee`}
            </Caption>
          )}
          {period.corrections !== 0 && (
            <Caption>
              <Anchor component={Link} href={addressOf('/entries', correctionsOf(plan))} inherit>
                corrections
              </Anchor>{' '}
              in later periods {exactMoney(period.corrections)}
            </Caption>
          )}
        </>
      )}
      <CountOf list={list} value={period.entries} />
      {period.unused !== 0 && (
        <Caption>
          {exactMoney(period.unused)} for {counted(period.unused_seats, 'unused seat')}
        </Caption>
      )}
      {period.pending !== 0 && <Caption>{exactMoney(period.pending)} pending</Caption>}
      <CountOf list={{ ...list, late: 'true', unknown_cost: ['allocated'] }} value={period.late_entries} kind="late " />
      <CountOf list={{ ...list, ...unpricedIn(plan, period) }} value={period.unpriced_entries}>
        {' '}
        without a price
      </CountOf>
    </>
  )
}

type List = EntryQuery & { period: string }

/** Whether what is allocated is what its entries cost. */
const isTotalOfEntries = ({ allocated, entries_cost, charge, corrections, entries }: Period): boolean =>
  entries > 0 && charge === 0 && corrections === 0 && allocated === entries_cost

const CostOf = ({ list, value }: { list: List; value: number }) => (
  <FigureLink figure="cost" basis="allocated" value={value} to={addressOf('/entries', list)}>
    <Money amount={value} />
  </FigureLink>
)

const correctionsOf = ({ name }: Plan) => ({ plan: [name], correction: 'true', basis: 'allocated' })

interface CountOfProps {
  list: List
  value: number
  kind?: string
  children?: ReactNode
}

/** A number of entries of a period, unless it is 0. */
const CountOf = ({ list, value, kind = '', children }: CountOfProps) =>
  value > 0 && (
    <FigureLink figure="entries" value={value} to={addressOf('/entries', list)} fz="xs" display="block">
      {counted(value, `${kind}entry`, `${kind}entries`)}
      {children}
    </FigureLink>
  )

/** Those that the fee of the period is for. Corrections of earlier periods are dated in it, and are not among them. */
const entriesOf = ({ name }: Plan, { from, to }: Period, today: string): List => ({
  plan: [name],
  correction: 'false',
  period: ownPeriod({ from, to: to ?? today }),
})

/** Which of them have no weight: where fees are shared by list value, those without one. */
function unpricedIn({ versions }: Plan, { from }: Period): EntryQuery {
  const { weight } = versions.find((terms) => terms.from <= from)!
  const isByListValue = weight === 'list_value' || weight === 'active_days'
  return isByListValue ? { unknown_cost: ['list'] } : { priced: 'false' }
}

interface FormProps {
  plan: Plan
  period: Period
  close: () => void
}

function CloseForm({ plan, period, close }: FormProps) {
  const [leavesUnpriced, setLeavesUnpriced] = useState(false)
  const one = api.plans({ id: plan.id }).periods({ first_day: period.from })
  return (
    <ConfirmChange
      isOpen
      close={close}
      title={`Close the period from ${dayInWords(period.from)}?`}
      action="Close period"
      of={plan}
      isIncomplete={period.unpriced_entries > 0 && !leavesUnpriced}
      send={(options) => answer(one.close.post({ leave_unpriced: leavesUnpriced }, options))}
      changes={CHANGES}
      done={() => 'Period closed.'}
    >
      <Text size="sm">
        Closing freezes its terms and the shares of its entries. Late entries are settled by corrections in a later
        period.
      </Text>
      {period.unpriced_entries > 0 && (
        <Checkbox
          label={`Leave out ${counted(period.unpriced_entries, 'entry', 'entries')} without a price`}
          checked={leavesUnpriced}
          onChange={({ currentTarget }) => setLeavesUnpriced(currentTarget.checked)}
        />
      )}
    </ConfirmChange>
  )
}

function ReopenForm({ plan, period, close }: FormProps) {
  const [reason, setReason] = useState('')
  const one = api.plans({ id: plan.id }).periods({ first_day: period.from })
  return (
    <ConfirmChange
      isOpen
      close={close}
      title={`Reopen the period from ${dayInWords(period.from)}?`}
      action="Reopen period"
      of={plan}
      isIncomplete={reason.trim() === ''}
      send={(options) => answer(one.reopen.post({ reason: reason.trim() }, options))}
      changes={CHANGES}
      done={() => 'Period reopened.'}
    >
      <Text size="sm">
        Its shares change with its entries again. Its corrections are voided, except those on a bill.
      </Text>
      <Textarea
        label="Reason"
        required
        maxLength={1_000}
        value={reason}
        onChange={({ currentTarget }) => setReason(currentTarget.value)}
      />
    </ConfirmChange>
  )
}
