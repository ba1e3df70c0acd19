/** Token sheets that wait for the person's approval, and their own ones that wait for them. */
import { Anchor, Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { count, counted } from '../../format/counts.ts'
import { useApprovals } from '../../parts/approvals.ts'
import { ConfirmChange } from '../../parts/confirm.tsx'
import { Reason } from '../../parts/entries/reason.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Ago, Money } from '../../parts/figures.tsx'
import { Loading } from '../../parts/loading.tsx'
import { periodInWords } from '../../parts/period.ts'
import { Caption } from '../../parts/texts.tsx'
import { answer, apiQuery } from '../../server/api.ts'
import { useMe } from '../../server/me.ts'
import { forget } from '../../server/queries.ts'
import { notify, useSend } from '../../server/send.ts'
import { ApproveWeek } from './approve-week.tsx'
import { Decisions, Row, Rows } from './row.tsx'
import { pressedBy } from './rows.ts'
import { approveSheet, CHANGES, type Sheet, sheetOf } from './sheet-changes.ts'
import { useDecided } from './undo.ts'

export function SheetsToApprove() {
  const { data, error, refetch } = useApprovals()
  if (error) return <Failure error={error} retry={refetch} />
  if (!data) return <Loading />
  const { sheets, data: shown } = data.sheets
  return (
    <>
      {shown.length > 0 && (
        <Group>
          <ApproveWeek />
        </Group>
      )}
      <Rows label="Token sheets to approve">
        {shown.map((sheet) => (
          <SheetToApprove key={sheet.id} sheet={sheet} />
        ))}
      </Rows>
      {sheets > shown.length && (
        <Caption>
          Showing the {count(shown.length)} that have waited longest, of {count(sheets)}.
        </Caption>
      )}
    </>
  )
}

const Numbers = ({ sheet: { entries, cost } }: { sheet: Pick<Sheet, 'entries' | 'cost'> }) => (
  <>
    <Money amount={cost} />
    <Caption>{counted(entries, 'entry', 'entries')}</Caption>
  </>
)

function SheetToApprove({ sheet }: { sheet: Sheet }) {
  const [isReturning, setReturning] = useState(false)
  const decided = useDecided()
  const { id, agent_manager, period, note, submitted_at } = sheet
  const name = `${agent_manager.name}, ${periodInWords(period)}`
  const approve = useSend({
    send: () =>
      approveSheet(sheet).catch(async (error) => {
        // What was refused may have changed: it is shown as it is now.
        await forget(CHANGES)
        throw error
      }),
    changes: CHANGES,
    after: () =>
      decided(`Sheet of ${agent_manager.name} approved.`, 'Withdraw approval', async () => {
        await answer(sheetOf(id)['withdraw-approval'].post())
        await forget(CHANGES)
        notify('Approval withdrawn.')
      }),
    quiet: true,
  })
  return (
    <Row
      title={
        <>
          <bdi>{agent_manager.name}</bdi>, {periodInWords(period)}
        </>
      }
      detail={
        <>
          {note !== null && (
            <>
              <bdi>{note}</bdi> ·{' '}
            </>
          )}
          submitted <Ago at={submitted_at} />
        </>
      }
      numbers={<Numbers sheet={sheet} />}
      problem={approve.error}
      actions={
        <Decisions
          name={name}
          approve={{
            label: 'Approve',
            verb: 'Approve sheet',
            decide: () => approve.mutate(),
            isPending: approve.isPending,
          }}
          refuse={{ label: 'Return…', verb: 'Return sheet', decide: () => setReturning(true) }}
        >
          <Anchor
            component={Link}
            href={`/sheets/${id}`}
            size="sm"
            aria-label={`Open sheet: ${name}`}
            {...pressedBy('Enter')}
          >
            Open
          </Anchor>
          {isReturning && <ReturnSheet sheet={sheet} close={() => setReturning(false)} />}
        </Decisions>
      }
    />
  )
}

function ReturnSheet({ sheet: { id, agent_manager, period }, close }: { sheet: Sheet; close: () => void }) {
  const [reason, setReason] = useState('')
  return (
    <ConfirmChange
      isOpen
      close={close}
      title={`Return ${agent_manager.name}’s sheet for ${periodInWords(period)}?`}
      action="Return sheet"
      isIncomplete={reason.trim() === ''}
      send={() => answer(sheetOf(id).return.post({ reason: reason.trim() }))}
      changes={CHANGES}
      done={() => `Sheet returned to ${agent_manager.name}.`}
    >
      <Reason value={reason} change={setReason} placeholder="The project is missing, the period is wrong, …" />
    </ConfirmChange>
  )
}

/** Own sheets: the path of the list names which. */
export function OwnSheets({ list, label }: { list: string; label: string }) {
  const { person } = useMe()
  const parameters = new URLSearchParams(list.split('?')[1])
  const query = {
    agent_manager: [person.id],
    status: parameters.getAll('status'),
    ...(parameters.has('ended_before') && { ended_before: parameters.get('ended_before')! }),
  }
  const { data, error, refetch } = useQuery(
    apiQuery(['sheets', 'inbox', query], (api) => api['token-sheets'].get({ query })),
  )
  if (error) return <Failure error={error} retry={refetch} />
  if (!data) return <Loading />
  return (
    <Rows label={label}>
      {data.data.map((sheet) => (
        <Row
          key={sheet.id}
          title={periodInWords(sheet.period)}
          detail={<bdi>{sheet.reason ?? sheet.note}</bdi>}
          numbers={<Numbers sheet={sheet} />}
          actions={
            <Anchor component={Link} href={`/sheets/${sheet.id}`} size="sm" {...pressedBy('Enter')}>
              {sheet.status === 'returned' ? 'Correct' : 'Complete and submit'}
            </Anchor>
          }
        />
      ))}
    </Rows>
  )
}
