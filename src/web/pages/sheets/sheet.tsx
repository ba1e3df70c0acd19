/** One token sheet: its entries, totals and actions. */
import { Alert, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { counted } from '../../format/counts.ts'
import { Details } from '../../parts/details.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Count, Moment, Money } from '../../parts/figures.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Page } from '../../parts/page.tsx'
import { periodInWords } from '../../parts/period.ts'
import { projectLabel } from '../../parts/project-label.ts'
import { Status } from '../../parts/status.tsx'
import { Note } from '../../parts/texts.tsx'
import { answer } from '../../server/api.ts'
import { useMe, useSettings } from '../../server/me.ts'
import { OverlapsNote } from './overlaps.tsx'
import { SheetActions } from './sheet-actions.tsx'
import { rightsTo, type Sheet, sheetOf } from './sheet-body.ts'
import { SheetEntries } from './sheet-entries.tsx'

export function SheetPage({ id }: { id: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['sheets', 'one', id],
    queryFn: ({ signal }) => answer(sheetOf(id, signal).get()),
  })
  if (error) return <Failure error={error} retry={refetch} />
  return data ? <OneSheet sheet={data} /> : <Loading />
}

function OneSheet({ sheet }: { sheet: Sheet }) {
  const me = useMe()
  const rights = rightsTo(sheet, me)
  const isOwn = sheet.agent_manager.id === me.person.id
  return (
    <Page
      above={{ href: '/sheets', title: 'Token sheets' }}
      title={
        <Group gap="xs">
          {periodInWords(sheet.period)}
          <Status of={sheet.status} />
        </Group>
      }
      lead={isOwn ? sheet.note : [sheet.agent_manager.name, sheet.note].filter(Boolean).join(' · ')}
      actions={<SheetActions sheet={sheet} rights={rights} />}
    >
      {sheet.reason && sheet.status === 'returned' && (
        <Alert color="orange" variant="light" title={`Returned by ${sheet.decided_by?.name ?? 'the command line'}`}>
          <Text size="sm">{sheet.reason}</Text>
          <Text size="sm">
            {isOwn ? 'Correct its entries and submit it again.' : 'Its entries can be edited again.'}
          </Text>
        </Alert>
      )}
      <SheetFigures sheet={sheet} />
      {sheet.status !== 'approved' && sheet.entries > 0 && <OverlapsNote id={sheet.id} />}
      <SheetEntries sheet={sheet} mayEdit={rights.edits} />
    </Page>
  )
}

function SheetFigures({ sheet }: { sheet: Sheet }) {
  const { time_zone } = useSettings()
  const { entries, unpriced_entries, tokens, cost, list_value, projects, has_unplaced } = sheet
  const named = [...projects.map(projectLabel), ...(has_unplaced ? ['some without a project'] : [])].join(', ')
  return (
    <Stack gap="sm">
      <Details
        of={[
          ['Cost', <Money key="cost" amount={cost} />],
          ['List value', <Money key="value" amount={list_value} />],
          ['Tokens', <Count key="tokens" value={tokens} />],
          [
            'Entries',
            `${counted(entries, 'entry', 'entries')}${unpriced_entries > 0 ? `, ${unpriced_entries} without a price` : ''}`,
          ],
          ['Projects', named],
          ['Time zone', time_zone],
          ['Submitted', sheet.submitted_at && <Moment key="submitted" at={sheet.submitted_at} />],
          [
            'Approved',
            sheet.status === 'approved' && (
              <>
                <Moment at={sheet.decided_at} /> by {sheet.decided_by?.name ?? 'the command line'}
              </>
            ),
          ],
        ]}
      />
      {sheet.status === 'submitted' && (
        <Note>
          {has_unplaced
            ? 'Awaiting approval by someone with the billing or admin role, because some entries have no project.'
            : 'Awaiting approval by a lead of all its projects, or someone with the billing or admin role.'}
        </Note>
      )}
    </Stack>
  )
}
