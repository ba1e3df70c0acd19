/** Bills whose latest e-mail failed. */
import { Anchor, Button, Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { Failure } from '../../parts/failure.tsx'
import { Money } from '../../parts/figures.tsx'
import { Loading } from '../../parts/loading.tsx'
import { answer, api, apiQuery, apiUntil, type Body } from '../../server/api.ts'
import { PAGE_LIMIT } from '../../server/list.ts'
import { useSend } from '../../server/send.ts'
import { Row, Rows } from './row.tsx'
import { pressedBy } from './rows.ts'

type BillHead = Body<Awaited<ReturnType<typeof api.bills.get>>>['data'][number]

export function FailedDeliveries() {
  const { data, error, refetch } = useQuery(
    apiQuery(['bills', 'undelivered'], (api) =>
      api.bills.get({ query: { state: ['sent'], delivery_failed: 'true', limit: PAGE_LIMIT } }),
    ),
  )
  if (error) return <Failure error={error} retry={refetch} />
  if (!data) return <Loading />
  return (
    <Rows label="Failed deliveries of bills">
      {data.data.map((bill) => (
        <FailedDelivery key={bill.id} bill={bill} />
      ))}
    </Rows>
  )
}

type Bill = Body<Awaited<ReturnType<ReturnType<typeof api.bills>['get']>>>

/** The addresses at which the bill failed last. */
function failedOf({ deliveries }: Bill): Bill['deliveries'] {
  const latest = deliveries.findLast(({ notice }) => notice !== 'reminder')
  return deliveries.filter(
    ({ notice, state, created_at }) => notice !== 'reminder' && state === 'failed' && created_at === latest?.created_at,
  )
}

/** Sends the bill again to the addresses at which it failed. */
async function sendAgain({ id }: BillHead) {
  const failed = failedOf(await answer(api.bills({ id }).get()))
  return answer(api.bills({ id }).deliver.post({ to: failed.map(({ to }) => to) }))
}

/** What the mail server answered, by address. */
function Reasons({ id }: BillHead) {
  const { data } = useQuery({
    queryKey: ['bills', id],
    queryFn: ({ signal }): Promise<Bill> => answer(apiUntil(signal).bills({ id }).get()),
  })
  return (
    data &&
    failedOf(data).map(({ to, answer }) => (
      <div key={to}>
        <bdi>{to}</bdi>
        {answer && (
          <>
            : <bdi>{answer}</bdi>
          </>
        )}
      </div>
    ))
  )
}

function FailedDelivery({ bill }: { bill: BillHead }) {
  const { id, number, client, project, total, currency } = bill
  const retry = useSend({
    send: () => sendAgain(bill),
    changes: ['bills', 'audit'],
    done: () => `Bill ${number} queued again.`,
    quiet: true,
  })
  return (
    <Row
      title={`Bill ${number}`}
      detail={
        <>
          <bdi>{client?.name ?? project?.name}</bdi>
          <Reasons {...bill} />
        </>
      }
      numbers={<Money amount={total} currency={currency} />}
      problem={retry.error}
      actions={
        <Group gap="xs">
          <Button
            size="compact-sm"
            variant="default"
            loading={retry.isPending}
            onClick={() => retry.mutate()}
            aria-label={`Send bill ${number} again`}
          >
            Send again
          </Button>
          <Anchor
            component={Link}
            href={`/bills/${id}`}
            size="sm"
            aria-label={`Open bill ${number}`}
            {...pressedBy('Enter')}
          >
            Open
          </Anchor>
        </Group>
      }
    />
  )
}
