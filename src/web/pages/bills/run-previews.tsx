/** Previews of the bills of a run, next to each other where there is room. */
import { Button, Group, Skeleton, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Failure } from '../../parts/failure.tsx'
import { CardTitle } from '../../parts/texts.tsx'
import { apiQuery } from '../../server/api.ts'
import { BillLink } from './bill-link.tsx'
import { LeftOut } from './left-out.tsx'
import { BillPaper } from './paper.tsx'
import classes from './run.module.css'
import { keyOf, nameOf, type Outcome, type RunRow } from './run-body.ts'

interface RunPreviewsProps {
  rows: readonly RunRow[]
  outcomes: Readonly<Record<string, Outcome>>
  close: (key: string) => void
}

export const RunPreviews = ({ rows, outcomes, close }: RunPreviewsProps) => (
  <div className={classes.previews}>
    {rows.map((row) => (
      <Preview key={keyOf(row)} row={row} sent={sentOf(row, outcomes[keyOf(row)])} close={() => close(keyOf(row))} />
    ))}
  </div>
)

type Sent = Pick<RunRow['bills'][number], 'id' | 'number'>

/** The bills that took all entries of a row: then there is nothing to preview. */
function sentOf({ entries, bills }: RunRow, outcome: Outcome | undefined): readonly Sent[] {
  // The row is as it was before until it is loaded again.
  const isNew = outcome?.is === 'sent' && !bills.some(({ id }) => id === outcome.id)
  if (entries > 0 && !isNew) return []
  return outcome?.is === 'sent' ? [outcome] : bills
}

interface PreviewProps {
  row: RunRow
  sent: readonly Sent[]
  close: () => void
}

function Preview({ row, sent, close }: PreviewProps) {
  // What is not decided yet is left out here too, as in the figures of its row.
  const request = {
    include_earlier: false,
    leave_unpriced: true,
    ...(row.provisional && { provisional: true }),
    ...row.request,
  }
  const { data, error, refetch } = useQuery({
    // With the digest: a row that changes has another preview.
    ...apiQuery(['bills', 'preview', JSON.stringify(request), row.digest], (api) => api.bills.preview.post(request)),
    placeholderData: (before) => before,
    enabled: sent.length === 0,
    staleTime: 0,
    gcTime: 0,
  })
  return (
    <Stack component="section" aria-label={`Preview of ${nameOf(row)}`} gap="sm">
      <Group justify="space-between" wrap="nowrap">
        <CardTitle>
          <bdi>{nameOf(row)}</bdi>
        </CardTitle>
        <Button size="compact-sm" variant="subtle" onClick={close}>
          Close preview
        </Button>
      </Group>
      {sent.length > 0 && (
        <Text size="sm" role="status">
          Sent as{' '}
          {sent.map(({ id, number }) => (
            <BillLink key={id} id={id} number={number} />
          ))}
        </Text>
      )}
      {sent.length === 0 && error && <Failure error={error} retry={refetch} />}
      {sent.length === 0 && !data && !error && <Skeleton height={360} />}
      {sent.length === 0 && data && (
        <>
          <BillPaper document={data.document} />
          <LeftOut document={data.document} />
        </>
      )}
    </Stack>
  )
}
