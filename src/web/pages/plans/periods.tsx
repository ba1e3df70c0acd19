/** The periods of a plan: what became of each fee, and closing them. */
import { ActionIcon, Badge, Checkbox, Menu, Stack, Text, Textarea } from '@mantine/core'
import { IconDots } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { counted } from '../../format/counts.ts'
import { dayInWords } from '../../format/moments.ts'
import { exactMoney } from '../../format/money.ts'
import { spanInWords } from '../../parts/budgets/budget.ts'
import { ConfirmChange } from '../../parts/confirm.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Money } from '../../parts/figures.tsx'
import { PlainTable } from '../../parts/plain-table.tsx'
import { Caption, Note, SectionTitle } from '../../parts/texts.tsx'
import { answer, api, apiUntil, type Body } from '../../server/api.ts'
import type { Plan } from './plan.ts'
import { CHANGES } from './plan-form.tsx'

type Period = Body<Awaited<ReturnType<ReturnType<(typeof api)['plans']>['periods']['get']>>>['data'][number]

const COLORS: Record<Period['state'], string> = { running: 'indigo', ended: 'yellow', closed: 'gray' }

export function Periods({ plan }: { plan: Plan }) {
  const [open, setOpen] = useState<{ do: 'close' | 'reopen'; period: Period } | null>(null)
  const { data, error, refetch } = useQuery({
    queryKey: ['plans', 'periods', plan.id],
    queryFn: ({ signal }) => answer(apiUntil(signal).plans({ id: plan.id }).periods.get()),
  })
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
            isStacked
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
                cell: (period) => <AllocatedCell period={period} />,
              },
              {
                key: 'actions',
                title: '',
                width: '48px',
                cell: (period) =>
                  period.state !== 'running' && (
                    <Menu position="bottom-end">
                      <Menu.Target>
                        <ActionIcon
                          variant="subtle"
                          color="gray"
                          aria-label={`Actions for the period from ${dayInWords(period.from)}`}
                        >
                          <IconDots size={16} />
                        </ActionIcon>
                      </Menu.Target>
                      <Menu.Dropdown>
                        {period.state === 'ended' ? (
                          <Menu.Item onClick={() => setOpen({ do: 'close', period })}>Close period</Menu.Item>
                        ) : (
                          <Menu.Item onClick={() => setOpen({ do: 'reopen', period })}>Reopen period</Menu.Item>
                        )}
                      </Menu.Dropdown>
                    </Menu>
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
      <Caption>cut, would have ended on {dayInWords(period.whole_to)}</Caption>
    )}
  </>
)

const AllocatedCell = ({ period }: { period: Period }) => (
  <>
    <Money amount={period.allocated} />
    {period.unused !== 0 && (
      <Caption>
        {exactMoney(period.unused)} for {counted(period.unused_seats, 'unused seat')}
      </Caption>
    )}
    {period.pending !== 0 && <Caption>{exactMoney(period.pending)} pending</Caption>}
    {period.late_entries > 0 && <Caption>{counted(period.late_entries, 'late entry', 'late entries')}</Caption>}
    {period.unpriced_entries > 0 && (
      <Caption>{counted(period.unpriced_entries, 'entry', 'entries')} without a price</Caption>
    )}
  </>
)

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
        The shares of its entries stay, and its terms cannot change. What comes late is corrected in a later period.
      </Text>
      {period.unpriced_entries > 0 && (
        <Checkbox
          label={`Leave ${counted(period.unpriced_entries, 'entry', 'entries')} without a price out`}
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
      <Text size="sm">Its shares follow its entries again. Its corrections that no bill has are voided.</Text>
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
