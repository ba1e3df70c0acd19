/** Which entries a rule would match, before a lead proposes it. */
import { Loader, Stack, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { count, counted } from '../../format/counts.ts'
import { money } from '../../format/money.ts'
import { Moment } from '../../parts/figures.tsx'
import { proposals } from '../../parts/proposals.ts'
import { Caption, Note } from '../../parts/texts.tsx'
import { answer } from '../../server/api.ts'
import { asProblem } from '../../server/problem.ts'

export type NewProposal = Parameters<typeof proposals.post>[0]

/** Debounce before a test, which reads the entries of a repository. */
const PAUSE_MS = 500

/** Of the newest ones: enough to recognize what the rule matches. */
const SHOWN = 5

export function ProposalTest({ proposal }: { proposal: NewProposal }) {
  const [paused] = useDebouncedValue(proposal, PAUSE_MS)
  // The name does not change what a rule matches.
  const tried = { ...paused, name: 'This rule' }
  const { data, error, isFetching } = useQuery({
    // A key of its own, so that nothing but a change of the rule repeats the test.
    queryKey: ['proposal-test', tried],
    queryFn: () => answer(proposals.test.post(tried)),
    placeholderData: (before) => before,
    retry: false,
  })
  return (
    <Stack gap={4} component="section" aria-label="Preview" aria-live="polite">
      {error ? (
        <Note>No preview: {asProblem(error).issues[0]?.message ?? asProblem(error).message}</Note>
      ) : data ? (
        <>
          <Text size="sm" fw={600}>
            Would match {count(data.entries)} of {data.complete ? '' : 'the newest '}
            {counted(data.tried, 'unattributed entry', 'unattributed entries')}
            {data.entries > 0 && `, ${money(data.cost)}`}
            {isFetching && <Loader size={12} ml="xs" />}
          </Text>
          {data.unpriced_entries > 0 && (
            <Caption>{counted(data.unpriced_entries, 'of them has', 'of them have')} no price.</Caption>
          )}
          {data.earlier_rules > 0 && (
            <Caption>
              {counted(data.earlier_rules, 'entry is', 'entries are')} matched by an existing rule first.
            </Caption>
          )}
          {data.data.slice(0, SHOWN).map(({ entry, ticket, note }) => (
            <Text key={entry.id} size="xs" truncate>
              <Moment at={entry.started_at} /> · <bdi>{entry.agent_manager}</bdi> ·{' '}
              <bdi>{entry.summary ?? entry.labels.branch ?? entry.agent_name}</bdi>
              {ticket !== null && (
                <>
                  {' → '}
                  <bdi>{ticket}</bdi>
                </>
              )}
              {note !== null && ' → no ticket'}
            </Text>
          ))}
        </>
      ) : (
        <Loader size="xs" />
      )}
    </Stack>
  )
}
