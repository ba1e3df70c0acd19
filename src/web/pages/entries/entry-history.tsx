/** The history of an entry, newest first. */
import { Skeleton, Text, Timeline } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { askHistory, type HistoryStep } from '../../parts/entries/entry.ts'
import { Failure } from '../../parts/failure.tsx'
import { Moment } from '../../parts/figures.tsx'
import { Caption } from '../../parts/texts.tsx'
import { asProblem } from '../../server/problem.ts'
import { Part } from './facts.tsx'
import { actionOf, actorOf, detailsOf } from './history-step.ts'

export function EntryHistory({ id }: { id: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['entries', 'history', id],
    queryFn: ({ signal }) => askHistory(id, signal),
  })
  return (
    <Part title="History">
      {error && !data && <Failure problem={asProblem(error)} retry={refetch} />}
      {!data && !error && <Skeleton height={48} />}
      {data && (
        <Timeline bulletSize={10} lineWidth={2} active={data.data.length}>
          {data.data.toReversed().map((step) => (
            <Timeline.Item key={`${step.at} ${step.action}`} title={<Title step={step} />}>
              <Text size="sm" component="div">
                {detailsOf(step).map((line) => (
                  <div key={line}>
                    <bdi>{line}</bdi>
                  </div>
                ))}
              </Text>
              <Caption>
                <Moment at={step.at} /> · {actorOf(step)}
              </Caption>
            </Timeline.Item>
          ))}
        </Timeline>
      )}
    </Part>
  )
}

const Title = ({ step }: { step: HistoryStep }) => (
  <Text size="sm" fw={600} lh={1.3}>
    {actionOf(step)}
  </Text>
)
