/** Approves the token sheets of a week that wait for the person, after a confirmation that names all of them. */
import { Alert, Button, NativeSelect, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { count, counted } from '../../format/counts.ts'
import { dayOf } from '../../format/moments.ts'
import type { Approvals } from '../../parts/approvals.ts'
import { Money } from '../../parts/figures.tsx'
import { FormFoot } from '../../parts/form.tsx'
import { FormModal } from '../../parts/form-modal.tsx'
import { periodInWords } from '../../parts/period.ts'
import { PlainTable } from '../../parts/plain-table.tsx'
import { answer } from '../../server/api.ts'
import { useFirstDayOfWeek, useSettings } from '../../server/me.ts'
import { asProblem } from '../../server/problem.ts'
import { forget } from '../../server/queries.ts'
import { notify } from '../../server/send.ts'
import { CHANGES, sheetOf } from './sheet-changes.ts'
import { useDecided } from './undo.ts'
import { byWeek, weekOf, weekToApprove } from './weeks.ts'

type Sheet = Approvals['sheets']['data'][number]

export function ApproveWeek({ sheets }: { sheets: readonly Sheet[] }) {
  // As they were when the dialog was opened: what it confirms does not change below the pointer.
  const [asked, ask] = useState<readonly Sheet[] | null>(null)
  return (
    <>
      <Button size="compact-sm" variant="light" onClick={() => ask(sheets)}>
        Approve week…
      </Button>
      {asked && <WeekDialog sheets={asked} close={() => ask(null)} />}
    </>
  )
}

function WeekDialog({ sheets, close }: { sheets: readonly Sheet[]; close: () => void }) {
  const { time_zone } = useSettings()
  const firstDayOfWeek = useFirstDayOfWeek()
  const decided = useDecided()
  const weeks = byWeek(sheets, firstDayOfWeek)
  const [week, setWeek] = useState(weekToApprove(weeks, dayOf(new Date(), time_zone), firstDayOfWeek))
  const [isSending, setSending] = useState(false)
  /** Why sheets were not approved; undefined before. */
  const [refused, setRefused] = useState<ReadonlyMap<string, string>>()
  const chosen = weeks.get(week)!
  const shown = refused ? chosen.filter(({ id }) => refused.has(id)) : chosen
  const unpriced = shown.reduce((sum, sheet) => sum + sheet.unpriced_entries, 0)

  async function approve() {
    setSending(true)
    const problems = new Map<string, string>()
    for (const { id } of shown) {
      await answer(sheetOf(id).approve.post()).catch((error) => problems.set(id, asProblem(error).message))
    }
    const done = shown.filter(({ id }) => !problems.has(id))
    if (done.length > 0)
      decided(`${counted(done.length, 'sheet')} approved.`, 'Withdraw approval', () => withdraw(done))
    await forget(CHANGES)
    setSending(false)
    if (problems.size === 0) close()
    else setRefused(problems)
  }

  return (
    <FormModal opened onClose={close} title="Approve the token sheets of a week" size="lg">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void approve()
        }}
      >
        <Stack>
          <NativeSelect
            label="Week"
            description="Sheets belong to the week in which their period ends."
            value={week}
            disabled={isSending || refused !== undefined}
            onChange={({ currentTarget }) => setWeek(currentTarget.value)}
            data={[...weeks].map(([from, { length }]) => ({
              value: from,
              label: `${periodInWords(weekOf(from, firstDayOfWeek))} · ${counted(length, 'sheet')}`,
            }))}
          />
          {refused && (
            <Alert color="red" variant="light" role="alert">
              {counted(refused.size, 'sheet was', 'sheets were')} not approved.{' '}
              {chosen.length > refused.size && `${count(chosen.length - refused.size)} approved.`}
            </Alert>
          )}
          <PlainTable
            label="Token sheets to approve"
            rows={shown}
            rowKey={({ id }) => id}
            columns={[
              {
                key: 'person',
                title: 'Person',
                cell: ({ id, agent_manager }) => (
                  <>
                    <bdi>{agent_manager.name}</bdi>
                    {refused?.has(id) && (
                      <Text size="xs" c="red">
                        {refused.get(id)}
                      </Text>
                    )}
                  </>
                ),
              },
              { key: 'period', title: 'Period', cell: ({ period }) => periodInWords(period) },
              { key: 'entries', title: 'Entries', isNumber: true, cell: ({ entries }) => count(entries) },
              { key: 'cost', title: 'Cost', isNumber: true, cell: ({ cost }) => <Money amount={cost} /> },
            ]}
            foot={{
              person: counted(shown.length, 'sheet'),
              entries: count(shown.reduce((sum, { entries }) => sum + entries, 0)),
              cost: <Money amount={shown.reduce((sum, { cost }) => sum + cost, 0)} />,
            }}
          />
          {unpriced > 0 && (
            <Text size="sm">The total excludes {counted(unpriced, 'unpriced entry', 'unpriced entries')}.</Text>
          )}
          <FormFoot
            action={refused ? 'Try again' : `Approve ${counted(shown.length, 'sheet')}`}
            close={close}
            isSending={isSending}
          />
        </Stack>
      </form>
    </FormModal>
  )
}

async function withdraw(sheets: readonly Sheet[]) {
  for (const { id } of sheets) await answer(sheetOf(id)['withdraw-approval'].post())
  await forget(CHANGES)
  notify(`Approval of ${counted(sheets.length, 'sheet')} withdrawn.`)
}
