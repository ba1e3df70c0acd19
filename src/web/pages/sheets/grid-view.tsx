/** The grid of a sheet, with the week and the number that its cells show, and its rows. */
import { ActionIcon, Button, Group, Select, Stack, Text } from '@mantine/core'
import { IconArrowBackUp, IconChevronLeft, IconChevronRight } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { one, oneOf, useAddress } from '../../address.ts'
import { addDays, dayOf } from '../../format/moments.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Loading } from '../../parts/loading.tsx'
import { periodInWords } from '../../parts/period.ts'
import { optionsOf } from '../../parts/segmented.tsx'
import { Caption } from '../../parts/texts.tsx'
import { answer, apiUntil } from '../../server/api.ts'
import { useFirstDayOfWeek, useSettings } from '../../server/me.ts'
import { asProblem } from '../../server/problem.ts'
import { CostQuestion } from './cost-question.tsx'
import type { EntryDefaults } from './entry-values.ts'
import {
  daysOfWeek,
  firstDayShown,
  MEASURES,
  type Measure,
  type RowSubject,
  rowsOf,
  subjectOf,
  weeksOf,
  weekWith,
} from './grid-model.ts'
import { RowForm } from './row-form.tsx'
import { type Sheet, type SheetEntry, sheetOf } from './sheet-body.ts'
import { SheetGrid } from './sheet-grid.tsx'
import { useGridEdits } from './use-grid-edits.ts'

/** The API's page limit. */
const PAGE = '1000'

async function askEntries(sheetId: string, signal: AbortSignal): Promise<SheetEntry[]> {
  const all: SheetEntry[] = []
  let page: string | undefined
  do {
    const query = { limit: PAGE, ...(page === undefined ? {} : { page }) }
    const { data, next_page } = await answer(sheetOf(sheetId, signal).entries.get({ query }))
    all.push(...data)
    page = next_page ?? undefined
  } while (page !== undefined)
  return all
}

/** Rows of the last sheet of the same person before this one; undefined if there is none. */
async function askLastRows(sheet: Sheet): Promise<RowSubject[] | undefined> {
  const { signal } = new AbortController()
  const query = { agent_manager: [sheet.agent_manager.id], ending_at: sheet.starting_at, limit: '1' }
  const [last] = (await answer(apiUntil(signal)['token-sheets'].get({ query }))).data
  if (!last) return undefined
  return rowsOf(await askEntries(last.id, signal), [], 'UTC').map(({ subject }) => ({ ...subject, summary: '' }))
}

interface GridViewProps {
  sheet: Sheet
  mayEdit: boolean
  defaults: EntryDefaults | undefined
}

export function GridView(props: GridViewProps) {
  const { id } = props.sheet
  const { data, error, refetch } = useQuery({
    queryKey: ['sheets', 'grid', id],
    queryFn: ({ signal }) => askEntries(id, signal),
  })
  if (error) return <Failure error={error} retry={refetch} />
  return data ? <Grid key={id} {...props} entries={data} /> : <Loading />
}

function Grid({ sheet, mayEdit, defaults, entries }: GridViewProps & { entries: SheetEntry[] }) {
  const { time_zone, sheet_required_fields: required } = useSettings()
  const weeks = weeksOf(sheet.period, useFirstDayOfWeek())
  const today = dayOf(new Date(), time_zone)
  const [address, show] = useAddress({ week: one, measure: oneOf('cost', ...OTHER_MEASURES) })
  // Changes of entries do not change the week that is shown.
  const [firstDay] = useState(() => firstDayShown(entries, sheet.period, { today, mayEdit, time_zone }))
  const week = weeks.find((one) => one === address.week) ?? weekWith(weeks, firstDay)
  const { measure } = address
  const days = daysOfWeek(week, sheet.period)
  const [added, setAdded] = useState<RowSubject[]>([])
  const [isAddingRow, setAddingRow] = useState(false)
  const [isCopying, setCopying] = useState(false)
  const edits = useGridEdits(sheet, time_zone)
  const rows = rowsOf(entries, added, time_zone)
  const copyRows = async () => {
    setCopying(true)
    try {
      const subjects = await askLastRows(sheet)
      edits.say(subjects ? '' : 'There is no earlier sheet.')
      if (subjects) setAdded((before) => [...before, ...subjects])
    } catch (failure) {
      edits.say(asProblem(failure).message)
    } finally {
      setCopying(false)
    }
  }
  const start = { ...EMPTY_ROW, ...defaults, ...(entries[0] ? { ...subjectOf(entries[0]), summary: '' } : {}) }
  return (
    <Stack gap="xs">
      <Group justify="space-between" gap="xs">
        <Group gap="xs">
          <Weeks weeks={weeks} week={week} shown={days} show={(next) => show({ week: next })} />
          <Select
            aria-label="Number in the cells"
            data={optionsOf(MEASURES)}
            allowDeselect={false}
            w={180}
            value={measure}
            onChange={(chosen) => show({ measure: chosen as Measure })}
          />
        </Group>
        {mayEdit && (
          <Group gap="xs">
            <Button
              variant="default"
              leftSection={<IconArrowBackUp size={16} />}
              disabled={!edits.canUndo || edits.isSaving}
              onClick={() => void edits.undo()}
            >
              Undo
            </Button>
            <Button variant="default" loading={isCopying} onClick={() => void copyRows()}>
              Copy rows from last sheet
            </Button>
            <Button onClick={() => setAddingRow(true)}>Add row</Button>
          </Group>
        )}
      </Group>
      {rows.length === 0 ? (
        <Empty title="No rows yet">
          {mayEdit
            ? 'A row is a project or ticket, an agent and a model. Add one, or copy the rows of your last sheet, then type numbers for each day.'
            : 'Entries appear here once they are added.'}
        </Empty>
      ) : (
        <SheetGrid
          key={`${week} ${measure}`}
          rows={rows}
          days={days}
          today={today}
          measure={measure}
          mayEdit={mayEdit}
          required={required}
          apply={edits.apply}
          undo={() => void edits.undo()}
          say={edits.say}
        />
      )}
      <Text size="sm" role="status" c={edits.message === 'Undone.' ? 'dimmed' : 'red'} mih={20}>
        {edits.message}
      </Text>
      {mayEdit && rows.length > 0 && (
        <Caption>
          Type {measure === 'cost' ? 'an amount such as 12.50 or 1,234.50' : 'a number such as 1,234, 515k or 1.23M'}.
          Enter and Tab save it, Delete clears a cell, Ctrl+Z undoes, and a block of cells can be pasted from a
          spreadsheet. You can enter a cost without tokens.
        </Caption>
      )}
      {isAddingRow && (
        <RowForm
          start={start}
          required={required}
          add={(subject) => setAdded((before) => [...before, subject])}
          close={() => setAddingRow(false)}
        />
      )}
      <Confirm
        isOpen={edits.question !== null}
        close={edits.cancelCosts}
        title="Save these costs?"
        action="Save anyway"
        confirm={edits.confirmCosts}
      >
        <CostQuestion entries={edits.question?.entries ?? []} />
      </Confirm>
    </Stack>
  )
}

const OTHER_MEASURES = ['input', 'output', 'cache_read', 'cache_write', 'total'] as const

const EMPTY_ROW: RowSubject = {
  agent_harness: '',
  agent_name: '',
  model: '',
  provider: '',
  project: '',
  ticket: '',
  summary: '',
  labels: {},
}

interface WeeksProps {
  weeks: string[]
  week: string
  shown: string[]
  show: (week: string) => void
}

const Weeks = ({ weeks, week, shown, show }: WeeksProps) => (
  <Group gap={4} wrap="nowrap">
    <ActionIcon
      variant="default"
      size="lg"
      aria-label="Previous week"
      disabled={week === weeks[0]}
      onClick={() => show(addDays(week, -7))}
    >
      <IconChevronLeft size={16} />
    </ActionIcon>
    <ActionIcon
      variant="default"
      size="lg"
      aria-label="Next week"
      disabled={week === weeks.at(-1)}
      onClick={() => show(addDays(week, 7))}
    >
      <IconChevronRight size={16} />
    </ActionIcon>
    <Text size="sm" fw={600} ml={4} aria-live="polite">
      {periodInWords({ from: shown[0]!, to: shown.at(-1)! })}
    </Text>
  </Group>
)
