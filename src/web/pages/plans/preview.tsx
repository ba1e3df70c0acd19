/** What a change of plans or funding rules would change, before it is made. */
import { Alert, Button, Group } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { fundingTitle } from '../../../shared/funding.ts'
import { count, counted } from '../../format/counts.ts'
import { Failure } from '../../parts/failure.tsx'
import { Moment, Money } from '../../parts/figures.tsx'
import { Loading } from '../../parts/loading.tsx'
import { PlainTable } from '../../parts/plain-table.tsx'
import { Note } from '../../parts/texts.tsx'
import { useFormSend } from '../../parts/use-form-send.ts'
import type { api, Body } from '../../server/api.ts'

export type Preview = Body<Awaited<ReturnType<(typeof api)['funding-rules']['preview']['post']>>>

interface PreviewChangesProps<Values extends object> {
  form: UseFormReturnType<Values>
  /** Answers a `Preview`, or what another request with `dry_run` is typed to answer. */
  ask: (values: Values) => Promise<unknown>
  /** As in `useFormSend`. */
  fields: Parameters<typeof useFormSend<Values, unknown>>[0]['fields']
}

/** A button in a form, and below it what its values would change. */
export function PreviewChanges<Values extends object>({ form, ask, fields }: PreviewChangesProps<Values>) {
  const [found, setFound] = useState<{ preview: Preview; of: string } | null>(null)
  const values = JSON.stringify(form.values)
  const { submit, refusal, isSending } = useFormSend<Values, { preview: Preview; of: string }>({
    form,
    fields,
    send: async (asked) => ({ preview: (await ask(asked)) as Preview, of: JSON.stringify(asked) }),
    changes: [],
    after: setFound,
  })
  return (
    <>
      <Group>
        <Button variant="default" loading={isSending} onClick={() => submit()}>
          Preview changes
        </Button>
      </Group>
      {refusal !== '' && (
        <Alert color="red" variant="light" role="alert">
          {refusal}
        </Alert>
      )}
      {found?.of === values && <PreviewTable preview={found.preview} />}
    </>
  )
}

/** What a change without values would do, in the dialog that confirms it. */
export function PreviewOf({ name, ask }: { name: string; ask: (signal: AbortSignal) => Promise<unknown> }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['plans', 'preview', name],
    queryFn: async ({ signal }) => (await ask(signal)) as Preview,
    staleTime: 0,
    gcTime: 0,
  })
  if (error) return <Failure error={error} retry={refetch} />
  return data ? <PreviewTable preview={data} /> : <Loading lines={2} />
}

function PreviewTable({ preview: { changes, locked_entries, searched_to } }: { preview: Preview }) {
  return (
    <Alert color="gray" variant="light" title="What would change" role="status">
      {changes.length === 0 ? (
        <Note>The change would not affect what pays for any entry.</Note>
      ) : (
        <PlainTable
          label="What would change"
          columns={[
            { key: 'from', title: 'Now', cell: ({ from }) => fundingTitle({ kind: from.funding, plan: from.plan }) },
            { key: 'to', title: 'Then', cell: ({ to }) => fundingTitle({ kind: to.funding, plan: to.plan }) },
            { key: 'entries', title: 'Entries', isNumber: true, cell: ({ entries }) => count(entries) },
            { key: 'cost', title: 'Cost', isNumber: true, cell: ({ cost }) => <Money amount={cost} /> },
          ]}
          rows={changes}
          rowKey={({ from, to }) => JSON.stringify([from, to])}
        />
      )}
      {locked_entries > 0 && (
        <Note>
          {counted(locked_entries, 'approved, billed or voided entry', 'approved, billed or voided entries')} would not
          change.
        </Note>
      )}
      {searched_to && (
        <Note>
          Only entries from <Moment at={searched_to} /> on were counted; older ones change as well.
        </Note>
      )}
    </Alert>
  )
}
