/** Loads a price table: choose a file, preview the changes, then load it. */
import { Alert, Button, Checkbox, FileButton, Group, Select, SimpleGrid, Stack, Textarea } from '@mantine/core'
import { IconUpload } from '@tabler/icons-react'
import { type DragEvent, useState } from 'react'
import { useLocation } from 'wouter'
import { fileSize } from '../../format/counts.ts'
import { dayOf } from '../../format/moments.ts'
import { DateField } from '../../parts/date-field.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Page } from '../../parts/page.tsx'
import { Note } from '../../parts/texts.tsx'
import { answer, api } from '../../server/api.ts'
import { useSettings } from '../../server/me.ts'
import { notify, useSend } from '../../server/send.ts'
import { LoadPlan } from './load-plan.tsx'
import { type LoadedTable, sourceText } from './price.ts'
import { PRICE_CHANGES, valuedText, valueTheRest } from './valuation.ts'

interface Options {
  /** Date of the table, `2026-11-21`; found out by the server if null. */
  asOf: string | null
  allowOlder: boolean
  /** Detected from the file if null. */
  format: string | null
  /** Effective date of rows without one, `2026-11-21`. */
  day: string | null
  force: boolean
  allowFree: boolean
}

interface TableFile {
  name: string
  text: string
  /** Undefined for pasted text. */
  modifiedAt?: string
}

const isJson = (text: string) => /^\ufeff?\s*[[{]/.test(text)

function sendTable(file: TableFile, { format, day, asOf, allowOlder, force, allowFree }: Options, dryRun: boolean) {
  const { name, text, modifiedAt } = file
  const query = {
    dry_run: String(dryRun),
    force: String(force),
    allow_free: String(allowFree),
    ...(format === null ? {} : { format }),
    ...(day === null ? {} : { effective_from: day }),
    ...(asOf === null ? {} : { as_of: asOf }),
    ...(name === '' ? {} : { name }),
    ...(modifiedAt === undefined ? {} : { modified_at: modifiedAt }),
    allow_older: String(allowOlder),
  }
  const headers = { 'content-type': isJson(text) ? 'application/json' : 'text/csv' }
  return answer(api.prices.load.post(text, { query, headers }))
}

export function LoadTable() {
  const [, navigate] = useLocation()
  const [file, setFile] = useState<TableFile>({ name: '', text: '' })
  const [options, setOptions] = useState<Options>({
    format: null,
    day: null,
    asOf: null,
    allowOlder: false,
    force: false,
    allowFree: false,
  })
  const plan = useSend({ send: (planned: Options) => sendTable(file, planned, true), changes: [], quiet: true })
  const load = useSend({
    send: async () => {
      const loaded = await sendTable(file, options, false)
      return { ...loaded, entries: loaded.valued ? await valueTheRest(loaded.valued) : 0 }
    },
    changes: PRICE_CHANGES,
    done: ({ counts, entries }) =>
      `Loaded ${counts.new} new and ${counts.changed} changed prices.${valuedText(entries)}`,
    after: () => navigate('/prices'),
    quiet: true,
  })
  // A preview of another file, or with other options, no longer applies.
  const change = (next: Partial<Options>) => {
    const changed = { ...options, ...next }
    setOptions(changed)
    load.reset()
    if (plan.data) plan.mutate(changed)
  }
  const choose = (chosen: TableFile) => {
    setFile(chosen)
    plan.reset()
    load.reset()
  }
  return (
    <Page
      title="Load price table"
      above={{ href: '/prices', title: 'Prices' }}
      lead="Tally’s own CSV or JSON, or a LiteLLM, models.dev or genai-prices file. Loading only adds prices: entries that already have a list value keep it. Prices that are older than those in use are skipped."
    >
      <FileField file={file} choose={choose} />
      <OptionFields options={options} change={change} />
      <Group>
        <Button
          variant={plan.data ? 'default' : 'filled'}
          disabled={file.text.trim() === ''}
          loading={plan.isPending}
          onClick={() => plan.mutate(options)}
        >
          Preview changes
        </Button>
      </Group>
      {plan.error && <Failure error={plan.error} />}
      {plan.data && (
        <Stack>
          <LoadPlan table={plan.data} isStale={plan.isPending} />
          {load.error && <Failure error={load.error} />}
          <LoadButton additions={additionsOf(plan.data)} isLoading={load.isPending} load={() => load.mutate()} />
        </Stack>
      )}
    </Page>
  )
}

const additionsOf = ({ counts }: LoadedTable) =>
  counts.new + counts.changed + counts.same_price + counts.overridden + counts.aliases

interface LoadButtonProps {
  additions: number
  isLoading: boolean
  load: () => void
}

const LoadButton = ({ additions, isLoading, load }: LoadButtonProps) =>
  additions === 0 ? (
    <Alert variant="light" color="gray" title="Nothing to load">
      Everything in the table is already loaded, is older than the prices in use, or was rejected.
    </Alert>
  ) : (
    <Group>
      <Button loading={isLoading} onClick={load}>
        Load price table
      </Button>
    </Group>
  )

/** The API's limit. */
const LIMIT_BYTES = 8 * 1_048_576

/** Larger files are not shown for editing, because the browser would become too slow. */
const EDITABLE_CHARACTERS = 200_000

function FileField({ file, choose }: { file: TableFile; choose: (file: TableFile) => void }) {
  const [isOver, setOver] = useState(false)
  const read = async (chosen: File | null) => {
    if (!chosen) return
    if (chosen.size > LIMIT_BYTES)
      return notify(`${chosen.name} is larger than ${fileSize(LIMIT_BYTES)}. Split it into smaller files.`)
    choose({
      name: chosen.name,
      text: await chosen.text(),
      modifiedAt: new Date(chosen.lastModified).toISOString(),
    })
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    void read(event.dataTransfer.files[0] ?? null)
  }
  const isLarge = file.text.length > EDITABLE_CHARACTERS
  return (
    // Dropping a file is an alternative to the button and the field below.
    // biome-ignore lint/a11y/noStaticElementInteractions: see above
    <div
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <Stack gap="xs">
        <Group gap="sm">
          <FileButton onChange={(chosen) => void read(chosen)} accept=".csv,.json,text/csv,application/json">
            {(props) => (
              <Button variant="default" leftSection={<IconUpload size={16} />} {...props}>
                Choose file
              </Button>
            )}
          </FileButton>
          <Note>
            {file.name
              ? `${file.name}, ${fileSize(new Blob([file.text]).size)}`
              : 'or drop one here, or paste the table below'}
          </Note>
        </Group>
        {isLarge ? (
          <Alert variant="light" color="gray">
            The file is too large to show here.{' '}
            <Button size="compact-xs" variant="subtle" onClick={() => choose({ name: '', text: '' })}>
              Remove file
            </Button>
          </Alert>
        ) : (
          <Textarea
            aria-label="Price table"
            autosize
            minRows={6}
            maxRows={14}
            spellCheck={false}
            placeholder={'provider,model,input,output,cache_read\nopenai,gpt-5,1.25,10,0.125'}
            styles={{
              input: {
                fontFamily: 'var(--mantine-font-family-monospace)',
                fontSize: 13,
                ...(isOver ? { borderColor: 'var(--mantine-primary-color-filled)' } : {}),
              },
            }}
            value={file.text}
            onChange={({ currentTarget }) => choose({ name: '', text: currentTarget.value })}
          />
        )}
      </Stack>
    </div>
  )
}

const FORMATS = ['tally', 'litellm', 'models-dev', 'genai-prices']

function OptionFields({ options, change }: { options: Options; change: (next: Partial<Options>) => void }) {
  const { time_zone } = useSettings()
  return (
    <Stack gap="sm">
      <SimpleGrid cols={{ base: 1, sm: 2 }} maw={640} style={{ alignItems: 'end' }}>
        <Select
          label="Format"
          placeholder="Detect automatically"
          clearable
          data={FORMATS.map((value) => ({ value, label: value === 'tally' ? 'Tally' : sourceText(value) }))}
          value={options.format}
          onChange={(format) => change({ format })}
        />
        <DateField
          label="Date of the table"
          placeholder="From the file or its newest model"
          clearable
          maxDate={dayOf(new Date(), time_zone)}
          value={options.asOf}
          onChange={(asOf) => change({ asOf })}
        />
        <DateField
          label="Effective date of undated prices"
          description={`Starts at midnight in ${time_zone}. Dates in the table are in UTC.`}
          placeholder="Today (always for new models)"
          clearable
          value={options.day}
          onChange={(day) => change({ day })}
        />
      </SimpleGrid>
      <Checkbox
        label="Load older prices"
        description="Also if they replace different prices from a newer table, or that were set by hand later."
        checked={options.allowOlder}
        onChange={({ currentTarget }) => change({ allowOlder: currentTarget.checked })}
      />
      <Checkbox
        label="Allow suspicious prices"
        description="Above $1,000 per million tokens, or cache writes above 4 times the input price."
        checked={options.force}
        onChange={({ currentTarget }) => change({ force: currentTarget.checked })}
      />
      <Checkbox
        label="Allow free models"
        checked={options.allowFree}
        onChange={({ currentTarget }) => change({ allowFree: currentTarget.checked })}
      />
    </Stack>
  )
}
