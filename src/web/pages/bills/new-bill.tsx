/** A new bill: the form on the left, its preview on the right. Only the previewed bill can be sent. */
import { Alert, Button, Grid, Group, Skeleton, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { one, useAddress } from '../../address.ts'
import { Empty } from '../../parts/empty.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Page } from '../../parts/page.tsx'
import { Note } from '../../parts/texts.tsx'
import { apiQuery } from '../../server/api.ts'
import { type BillDraft, billDraftQuery } from '../../server/bill-drafts.ts'
import { useSettings } from '../../server/me.ts'
import { asProblem, Problem } from '../../server/problem.ts'
import { showIssues } from '../../server/send.ts'
import type { BillRequest } from './bill-body.ts'
import { useBillCurrency, useFilling, useUsualTerms } from './bill-terms.ts'
import { DraftState } from './draft-state.tsx'
import { valuesOfForm } from './drafts.ts'
import { LeftOut } from './left-out.tsx'
import { type BillForm, NewBillFields } from './new-bill-fields.tsx'
import { type BillValues, requestOf, valuesOf } from './new-bill-values.ts'
import classes from './paper.module.css'
import { BillPaper } from './paper.tsx'
import { Refusal } from './refusal.tsx'
import { SendBill } from './send-bill.tsx'
import { type KeptDraft, useKeptDraft } from './use-draft.ts'

/** Debounce before a new preview: composing a bill may read a hundred thousand entries. */
const PAUSE_MS = 350

/** The form's fields of pointers that have another name in the API. */
const FIELDS = {
  '/period/from': 'days',
  '/period/to': 'days',
  '/period': 'days',
  '/tax/percent': 'tax_percent',
  '/tax/name': 'tax_name',
}

const ADDRESS = { client: one, project: one, from: one, to: one, replaces: one, draft: one }

/** The form of the draft in the address, once it is read, or an empty one. */
export function NewBill() {
  const [{ draft: named }, show] = useAddress(ADDRESS)
  // The draft that this form has become: it has not to be read.
  const [own, setOwn] = useState<string>()
  const opened = named === own ? undefined : named
  const { data, error, refetch, isFetching } = useQuery(billDraftQuery(opened))
  if (opened !== undefined && (isFetching || !data)) {
    if (error && !isFetching) return <MissingDraft problem={asProblem(error)} retry={refetch} />
    return <Loading />
  }
  return (
    <BillFormPage
      key={opened === undefined ? 'new' : `${opened} ${data!.revision}`}
      opened={opened === undefined ? undefined : data}
      created={(id) => {
        setOwn(id)
        show({ draft: id }, { replace: true })
      }}
      reload={() => {
        setOwn(undefined)
        void refetch()
      }}
    />
  )
}

const MissingDraft = ({ problem, retry }: { problem: Problem; retry: () => unknown }) =>
  problem.status === 404 ? (
    <Empty
      title="This draft is gone"
      action={
        <Button component={Link} href="/bills" variant="default">
          Show bills
        </Button>
      }
    >
      It was sent or deleted, by you or by somebody else.
    </Empty>
  ) : (
    <Failure error={problem} retry={retry} />
  )

interface BillFormPageProps {
  opened: BillDraft | undefined
  created: (id: string) => void
  reload: () => void
}

function BillFormPage({ opened, created, reload }: BillFormPageProps) {
  const { time_zone, cost_basis } = useSettings()
  const [given] = useAddress(ADDRESS)
  const initial = valuesOf(given, { timeZone: time_zone, basis: cost_basis })
  const form = useForm<BillValues>({ initialValues: opened ? valuesOfForm(opened.form) : initial })
  const draft = useKeptDraft({ opened, values: form.values, initial, created })
  const terms = useUsualTerms(form.values)
  const currency = useBillCurrency(form.values, terms)
  useFilling(form, terms.data, currency, { isFilled: opened !== undefined })
  const lacksRate = currency !== undefined && currency !== 'USD' && form.values.exchange_rate === ''
  const preview = usePreview(lacksRate || currency === undefined ? undefined : requestOf(form.values))
  const problem = preview.error instanceof Problem ? preview.error : null
  useIssues(form, problem)
  return (
    <Page
      title="New bill"
      above={{ href: '/bills', title: 'Bills' }}
      lead="What you type is saved as a draft, visible to everyone who can send bills. Sending the bill assigns its number and locks its entries."
    >
      <Grid gap="xl">
        <Grid.Col span={{ base: 12, md: 5, lg: 4 }}>
          <DraftState draft={draft} reload={reload} />
          <NewBillFields form={form} currency={currency} terms={terms.data} />
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 7, lg: 8 }}>
          {lacksRate && requestOf(form.values) ? (
            <Empty title={`Exchange rate for ${currency}`}>
              Costs are recorded in US dollars. Enter how many {currency} one US dollar is worth. The rate is shown on
              the bill and cannot change after it is sent.
            </Empty>
          ) : (
            <Preview form={form} preview={preview} problem={problem} draft={draft} />
          )}
        </Grid.Col>
      </Grid>
    </Page>
  )
}

/** The bill as it would be sent now. The previous preview stays until the new one arrives. */
function usePreview(request: BillRequest | undefined) {
  const [settled] = useDebouncedValue(JSON.stringify(request), PAUSE_MS)
  const query = useQuery({
    ...apiQuery(['bills', 'preview', settled], (api) => api.bills.preview.post(JSON.parse(settled!) as BillRequest)),
    enabled: settled !== undefined,
    placeholderData: (before) => before,
    // Entries arrive all day, so a cached preview may be outdated.
    staleTime: 0,
    gcTime: 0,
  })
  const isBehind = settled !== JSON.stringify(request)
  return { ...query, request, isStale: query.isFetching || isBehind }
}

export type PreviewState = ReturnType<typeof usePreview>

/** Shows the validation issues of the preview next to their fields. */
function useIssues(form: BillForm, problem: Problem | null) {
  const [rest, setRest] = useState('')
  const { setErrors } = form
  // The form object changes with every keystroke.
  // biome-ignore lint/correctness/useExhaustiveDependencies: see above
  useEffect(() => {
    if (problem) setRest(showIssues(form, problem, FIELDS))
    else setErrors({})
  }, [problem])
  return rest
}

interface PreviewProps {
  form: BillForm
  preview: PreviewState
  problem: Problem | null
  draft: KeptDraft
}

function Preview({ form, preview, problem, draft }: PreviewProps) {
  const [, navigate] = useLocation()
  const { data, request, isStale } = preview
  if (!request) {
    return (
      <Empty title="No preview yet">
        Choose a client, a project or everything, and a period to see a preview of the bill.
      </Empty>
    )
  }
  if (problem) return <Refused form={form} problem={problem} retry={preview.refetch} />
  if (!data) return <Skeleton height={480} />
  const { document, digest, period_is_over } = data
  const isEmpty = document.entries === 0 && document.extra_lines.length === 0
  return (
    <Stack className={classes.printed}>
      <Decided form={form} />
      <Group justify="space-between">
        <Note aria-live="polite">
          {isStale ? 'Updating preview…' : isEmpty ? 'Nothing to bill.' : 'The bill will be sent exactly as shown.'}
        </Note>
        <SendBill
          values={form.values}
          request={request}
          digest={digest}
          isPeriodOver={period_is_over}
          document={document}
          isDisabled={isStale || isEmpty}
          draft={draft.id}
          lost={draft.lose}
          sent={({ id }) => {
            draft.end(draft.id)
            navigate(`/bills/${id}`)
          }}
          again={() => void preview.refetch()}
        />
      </Group>
      <LeftOut document={document} />
      <BillPaper document={document} isStale={isStale} />
    </Stack>
  )
}

function Refused({ form, problem, retry }: { form: BillForm; problem: Problem; retry: () => unknown }) {
  if (
    problem.code === 'unpriced_entries' ||
    problem.code === 'earlier_entries' ||
    problem.code === 'period_not_closed'
  ) {
    return <Refusal form={form} problem={problem} />
  }
  if (problem.code === 'validation_failed') {
    return (
      <Alert color="orange" variant="light" title="Some fields need attention" role="status">
        {problem.issues.map(({ pointer, message }) => (
          <Text size="sm" key={pointer}>
            <code>{pointer.slice(1).replaceAll('/', ' ').replaceAll('_', ' ')}</code> {message}.
          </Text>
        ))}
      </Alert>
    )
  }
  return <Failure error={problem} retry={retry} />
}

/** Decisions about unpriced and earlier entries and open periods, each of which can be changed. */
function Decided({ form }: { form: BillForm }) {
  const { leave_unpriced, include_earlier, provisional } = form.values
  const lines: [string, () => void][] = []
  if (leave_unpriced) {
    lines.push(['Unpriced entries are left out.', () => form.setFieldValue('leave_unpriced', false)])
  }
  if (provisional) {
    lines.push([
      'Shares of periods that are not closed are billed provisionally.',
      () => form.setFieldValue('provisional', false),
    ])
  }
  if (include_earlier !== undefined) {
    const text = include_earlier ? 'are included in a separate section.' : 'are left for another bill.'
    lines.push([`Earlier entries ${text}`, () => form.setFieldValue('include_earlier', undefined)])
  }
  return lines.map(([text, undo]) => (
    <Group key={text} gap="xs">
      <Text size="sm">{text}</Text>
      <Button size="compact-xs" variant="subtle" onClick={undo}>
        Change
      </Button>
    </Group>
  ))
}
