/** Approves the token sheets of a week that wait for the person, after a confirmation that names all of them. */
import { Alert, Button, NativeSelect, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { count, counted } from '../../format/counts.ts'
import { dayOf } from '../../format/moments.ts'
import { Money } from '../../parts/figures.tsx'
import { FormFoot } from '../../parts/form.tsx'
import { FormModal } from '../../parts/form-modal.tsx'
import { periodInWords } from '../../parts/period.ts'
import { PlainTable } from '../../parts/plain-table.tsx'
import { answer } from '../../server/api.ts'
import { useFirstDayOfWeek, useSettings } from '../../server/me.ts'
import { asProblem } from '../../server/problem.ts'
import { forget } from '../../server/queries.ts'
import { notify, useSend } from '../../server/send.ts'
import { approveSheet, CHANGES, readWaitingSheets, type Sheet, sheetOf } from './sheet-changes.ts'
import { useDecided } from './undo.ts'
import { byWeek, weekOf, weekToApprove } from './weeks.ts'

export function ApproveWeek() {
  // As they were when the dialog was opened: what it confirms does not change below the pointer.
  const [asked, ask] = useState<readonly Sheet[] | null>(null)
  const read = useSend({
    send: readWaitingSheets,
    changes: [],
    done: ({ length }) => (length === 0 ? 'No sheet waits for your approval any more.' : undefined),
    after: ask,
  })
  return (
    <>
      <Button size="compact-sm" variant="light" loading={read.isPending} onClick={() => read.mutate()}>
        Approve week…
      </Button>
      {asked && asked.length > 0 && <WeekDialog sheets={asked} close={() => ask(null)} />}
    </>
  )
}

/** Sheets that were not approved, and why. */
interface Refused {
  sheets: readonly Sheet[]
  problems: ReadonlyMap<string, string>
}

function WeekDialog({ sheets, close }: { sheets: readonly Sheet[]; close: () => void }) {
  const { time_zone } = useSettings()
  const firstDayOfWeek = useFirstDayOfWeek()
  const decided = useDecided()
  const weeks = byWeek(sheets, firstDayOfWeek)
  const [week, setWeek] = useState(weekToApprove(weeks, dayOf(new Date(), time_zone), firstDayOfWeek))
  const [isSending, setSending] = useState(false)
  const [refused, setRefused] = useState<Refused>()
  const chosen = weeks.get(week)!
  const shown = refused?.sheets ?? chosen
  const unpriced = shown.reduce((sum, sheet) => sum + sheet.unpriced_entries, 0)

  async function approve() {
    setSending(true)
    const problems = new Map<string, string>()
    for (const sheet of shown) {
      await approveSheet(sheet).catch((error) => problems.set(sheet.id, asProblem(error).message))
    }
    const done = shown.filter(({ id }) => !problems.has(id))
    if (done.length > 0)
      decided(`${counted(done.length, 'sheet')} approved.`, 'Withdraw approval', () => withdraw(done))
    await forget(CHANGES)
    if (problems.size === 0) return close()
    // With what somebody has changed meanwhile, so that trying again approves what is shown.
    const now = new Map((await readWaitingSheets().catch(() => shown)).map((sheet) => [sheet.id, sheet]))
    const left = shown.filter(({ id }) => problems.has(id))
    setRefused({ sheets: left.map((sheet) => now.get(sheet.id) ?? sheet), problems })
    setSending(false)
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
              {counted(chosen.length - refused.sheets.length, 'sheet')} approved, {count(refused.sheets.length)} skipped
              for the reasons below.
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
                    {refused && (
                      <Text size="xs" c="red">
                        {refused.problems.get(id)}
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
