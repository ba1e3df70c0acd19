/** Loading a table of prices: the file, what it would change, and only then the change. */
import { Alert, Button, Checkbox, FileButton, Group, Select, SimpleGrid, Stack, Text, Textarea } from '@mantine/core'
import { DateInput } from '@mantine/dates'
import { IconUpload } from '@tabler/icons-react'
import { type DragEvent, useState } from 'react'
import { useLocation } from 'wouter'
import { fileSize } from '../../format/counts.ts'
import { Failure } from '../../parts/failure.tsx'
import { Page } from '../../parts/page.tsx'
import { answer, api } from '../../server/api.ts'
import { tell, useSend } from '../../server/send.ts'
import { LoadPlan } from './load-plan.tsx'
import { sourceText } from './price.ts'
import { PRICE_CHANGES, valuedText, valueTheRest } from './valued.ts'

interface Options {
  /** Told by the shape of the file where absent. */
  format: string | null
  /** The day that dates rows which the file does not date. */
  day: string | null
  force: boolean
  allowFree: boolean
}

interface TableFile {
  name: string
  text: string
}

const isJson = (text: string) => /^\ufeff?\s*[[{]/.test(text)

function sendTable({ text }: TableFile, { format, day, force, allowFree }: Options, dryRun: boolean) {
  const query = {
    dry_run: String(dryRun),
    force: String(force),
    allow_free: String(allowFree),
    ...(format === null ? {} : { format }),
    ...(day === null ? {} : { effective_from: day }),
  }
  const headers = { 'content-type': isJson(text) ? 'application/json' : 'text/csv' }
  return answer(api.prices.load.post(text, { query, headers }))
}

export function LoadTable() {
  const [, navigate] = useLocation()
  const [file, setFile] = useState<TableFile>({ name: '', text: '' })
  const [options, setOptions] = useState<Options>({ format: null, day: null, force: false, allowFree: false })
  const plan = useSend({ send: (asked: Options) => sendTable(file, asked, true), changes: [], quiet: true })
  const load = useSend({
    send: async () => {
      const loaded = await sendTable(file, options, false)
      return { ...loaded, entries: loaded.valued ? await valueTheRest(loaded.valued) : 0 }
    },
    changes: PRICE_CHANGES,
    done: ({ counts, entries }) =>
      `${counts.new} new prices and ${counts.changed} changed ones are loaded.${valuedText(entries)}`,
    after: () => navigate('/prices'),
    quiet: true,
  })
  // A plan of another file, or of other options, is none.
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
      title="Load a table of prices"
      above={{ href: '/prices', title: 'Prices' }}
      lead="Tally’s own CSV or JSON, or a file of LiteLLM, models.dev or genai-prices. Prices are only ever added; what was valued keeps its value."
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
          Look what it changes
        </Button>
      </Group>
      {plan.error && <Failure problem={plan.error} />}
      {plan.data && (
        <Stack>
          <LoadPlan table={plan.data} isStale={plan.isPending} />
          {load.error && <Failure problem={load.error} />}
          <LoadButton
            additions={plan.data.counts.new + plan.data.counts.changed + plan.data.counts.aliases}
            isLoading={load.isPending}
            load={() => load.mutate()}
          />
        </Stack>
      )}
    </Page>
  )
}

interface LoadButtonProps {
  additions: number
  isLoading: boolean
  load: () => void
}

const LoadButton = ({ additions, isLoading, load }: LoadButtonProps) =>
  additions === 0 ? (
    <Alert variant="light" color="gray" title="Nothing to load">
      All that the table says is loaded already, or was refused.
    </Alert>
  ) : (
    <Group>
      <Button loading={isLoading} onClick={load}>
        Load the table
      </Button>
    </Group>
  )

/** As much as the API takes. */
const LIMIT_BYTES = 8 * 1_048_576

/** Beyond it a file is not shown for editing: the browser would crawl. */
const EDITABLE_CHARACTERS = 200_000

function FileField({ file, choose }: { file: TableFile; choose: (file: TableFile) => void }) {
  const [isOver, setOver] = useState(false)
  const read = async (chosen: File | null) => {
    if (!chosen) return
    if (chosen.size > LIMIT_BYTES) return tell(`${chosen.name} has more than ${fileSize(LIMIT_BYTES)}: divide it.`)
    choose({ name: chosen.name, text: await chosen.text() })
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    void read(event.dataTransfer.files[0] ?? null)
  }
  const isLarge = file.text.length > EDITABLE_CHARACTERS
  return (
    // Dropping a file is one more way; the button and the field below do the same.
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
                Choose a file
              </Button>
            )}
          </FileButton>
          <Text size="sm" c="dimmed">
            {file.name ? `${file.name}, ${fileSize(new Blob([file.text]).size)}` : 'or drop it here, or paste it below'}
          </Text>
        </Group>
        {isLarge ? (
          <Alert variant="light" color="gray">
            The file is too long to be shown here.{' '}
            <Button size="compact-xs" variant="subtle" onClick={() => choose({ name: '', text: '' })}>
              Take another
            </Button>
          </Alert>
        ) : (
          <Textarea
            aria-label="The table"
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

const OptionFields = ({ options, change }: { options: Options; change: (next: Partial<Options>) => void }) => (
  <Stack gap="sm">
    <SimpleGrid cols={{ base: 1, sm: 2 }} maw={640}>
      <Select
        label="Format"
        placeholder="Told by its shape"
        clearable
        data={FORMATS.map((value) => ({ value, label: value === 'tally' ? 'Tally' : sourceText(value) }))}
        value={options.format}
        onChange={(format) => change({ format })}
      />
      <DateInput
        label="Prices without a date hold from"
        placeholder="Today; always for new models"
        clearable
        valueFormat="D MMM YYYY"
        value={options.day}
        onChange={(day) => change({ day })}
      />
    </SimpleGrid>
    <Checkbox
      label="Take what looks like a mistake"
      description="Above $1,000 per million tokens, or cache writes above 4 times the input."
      checked={options.force}
      onChange={({ currentTarget }) => change({ force: currentTarget.checked })}
    />
    <Checkbox
      label="Take models that cost nothing"
      checked={options.allowFree}
      onChange={({ currentTarget }) => change({ allowFree: currentTarget.checked })}
    />
  </Stack>
)
