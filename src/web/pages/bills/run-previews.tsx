/** Previews of the bills of a run, next to each other where there is room. */
import { Button, Group, Skeleton, Stack, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Failure } from '../../parts/failure.tsx'
import { answer, apiUntil } from '../../server/api.ts'
import { asProblem } from '../../server/problem.ts'
import { LeftOut } from './left-out.tsx'
import { BillPaper } from './paper.tsx'
import classes from './run.module.css'
import { keyOf, nameOf, type RunRow } from './run-body.ts'

export const RunPreviews = ({ rows, close }: { rows: readonly RunRow[]; close: (key: string) => void }) => (
  <div className={classes.previews}>
    {rows.map((row) => (
      <Preview key={keyOf(row)} row={row} close={() => close(keyOf(row))} />
    ))}
  </div>
)

function Preview({ row, close }: { row: RunRow; close: () => void }) {
  // What is not decided yet is left out here too, as in the figures of its row.
  const request = { include_earlier: false, leave_unpriced: true, ...row.request }
  const { data, error, refetch } = useQuery({
    // With the digest: a row that changes has another preview.
    queryKey: ['bills', 'preview', JSON.stringify(request), row.digest],
    queryFn: ({ signal }) => answer(apiUntil(signal).bills.preview.post(request)),
    placeholderData: (before) => before,
    staleTime: 0,
    gcTime: 0,
  })
  return (
    <Stack component="section" aria-label={`Preview of ${nameOf(row)}`} gap="sm">
      <Group justify="space-between" wrap="nowrap">
        <Title order={2} size="h5">
          <bdi>{nameOf(row)}</bdi>
        </Title>
        <Button size="compact-sm" variant="subtle" onClick={close}>
          Close preview
        </Button>
      </Group>
      {error && <Failure problem={asProblem(error)} retry={refetch} />}
      {!data && !error && <Skeleton height={360} />}
      {data && (
        <>
          <BillPaper document={data.document} />
          <LeftOut document={data.document} />
        </>
      )}
    </Stack>
  )
}
