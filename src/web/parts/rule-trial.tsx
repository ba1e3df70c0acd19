/** What a rule would do, before it is saved: on entries that are there, or on a sample. */
import { Loader, SegmentedControl, Select, Stack, Text, Title } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { count, counted } from '../format/counts.ts'
import { answer, api } from '../server/api.ts'
import { asProblem, type Problem } from '../server/problem.ts'
import { bodyOf, isComplete, newBodyOf, type RuleDraft } from './rule.ts'
import { SampleTrial } from './rule-sample.tsx'
import { TakenEntries } from './rule-taken.tsx'
import { Refused, type Tried, type TriedRule } from './rule-tried.tsx'

const { test } = api['placement-rules']

export type TrialFilter = NonNullable<Parameters<typeof test.entries.post>[1]>['query']

/** So many of the newest entries: what one call answers. */
const TRIED = 1_000

/** So long nothing was typed before the server is asked: it looks at a thousand entries each time. */
const PAUSE_MS = 500

interface RuleTrialProps {
  title: string
  draft: RuleDraft
  /** The saved rule that is being changed. */
  replaces?: string | undefined
  tryOn?: TrialFilter | undefined
  /** Shows issues beside the fields they are about; `root` is where the rule stands in what was sent. */
  refused: (problem: Problem, root: string) => void
}

export function RuleTrial({ title, draft, replaces, tryOn, refused }: RuleTrialProps) {
  const [on, setOn] = useState<'entries' | 'sample'>('entries')
  const [paused] = useDebouncedValue(draft, PAUSE_MS)
  const rule = isComplete(paused)
    ? { ...(replaces === undefined ? newBodyOf(paused) : bodyOf(paused)), name: paused.name.trim() || 'This rule' }
    : undefined
  const tried = { rule, ...(replaces !== undefined && rule ? { replaces } : {}) }
  return (
    <Stack gap="sm">
      <Title order={2} size="h5">
        {title}
      </Title>
      <SegmentedControl
        value={on}
        onChange={(value) => setOn(value as typeof on)}
        data={[
          { value: 'entries', label: 'On entries' },
          { value: 'sample', label: 'On a sample' },
        ]}
        aria-label="What it is tried on"
        w="fit-content"
        size="xs"
      />
      {on === 'entries' ? (
        <EntriesTrial tried={tried} tryOn={tryOn} refused={refused} />
      ) : (
        <SampleTrial tried={tried} refused={refused} />
      )}
    </Stack>
  )
}

interface TrialProps {
  tried: TriedRule
  tryOn?: TrialFilter | undefined
  refused: (problem: Problem, root: string) => void
}

const SETS = [
  { value: 'asked', label: 'These entries', filter: undefined },
  { value: 'unattributed', label: 'Unattributed entries', filter: { placed: ['none'] } },
  { value: 'all', label: 'All entries', filter: {} },
]

function EntriesTrial({ tried, tryOn, refused }: TrialProps) {
  const [set, setSet] = useState(tryOn ? 'asked' : 'unattributed')
  const filter = (set === 'asked' ? tryOn : SETS.find(({ value }) => value === set)!.filter) as TrialFilter
  const { data, error, isFetching } = useQuery({
    // Not of the part of the rules: one that was just removed cannot be tried again.
    queryKey: ['rule-trial', tried, filter],
    queryFn: () => answer(test.entries.post({ ...tried, limit: TRIED }, { query: filter })),
    enabled: tried.rule !== undefined,
    placeholderData: (before) => before,
  })
  useRefusal(error, refused)
  return (
    <Stack gap="sm" aria-live="polite">
      <Select
        label="Tried on the newest of"
        data={SETS.filter(({ value }) => value !== 'asked' || tryOn).map(({ value, label }) => ({ value, label }))}
        value={set}
        onChange={(value) => value && setSet(value)}
        allowDeselect={false}
        size="xs"
        maw={260}
        rightSection={isFetching ? <Loader size={12} /> : undefined}
      />
      {tried.rule === undefined ? (
        <Text size="sm" c="dimmed">
          Say what it looks at and where it places, and here stands which entries it would take.
        </Text>
      ) : error ? (
        <Refused problem={asProblem(error)} />
      ) : (
        data && <Verdict entries={data.data} hasMore={data.has_more} />
      )}
    </Stack>
  )
}

/** Beside the fields, where it says which; once for each refusal. */
function useRefusal(error: Error | null, refused: (problem: Problem, root: string) => void) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: a refusal is shown once, also where the form is drawn anew
  useEffect(() => {
    if (error) refused(asProblem(error), '/rule')
  }, [error])
}

function Verdict({ entries, hasMore }: { entries: Tried[]; hasMore: boolean }) {
  const taken = entries.filter((entry) => entry.taken?.rule.id === null)
  const moving = taken.filter(({ applies }) => applies)
  const others = entries.filter(({ taken }) => taken && taken.rule.id !== null)
  const triedOn = hasMore ? `the newest ${count(entries.length)}` : counted(entries.length, 'entry', 'entries')
  if (entries.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        There is nothing to try it on. Choose other entries, or try it on a sample.
      </Text>
    )
  }
  return (
    <Stack gap="xs">
      <Text size="sm">
        <b>It takes {count(taken.length)}</b> of {triedOn}
        {taken.length > 0 && <>; {count(moving.length)} of them would move when rules are applied</>}.
        {others.length > 0 && <> Other rules take {count(others.length)}.</>}
      </Text>
      {taken.length > 0 ? (
        <TakenEntries entries={taken} isNone={false} />
      ) : (
        // Those that no rule takes say most about why this one does not.
        <TakenEntries entries={[...entries.filter(({ taken }) => !taken), ...others]} isNone />
      )}
    </Stack>
  )
}
