/** Tests a rule before it is saved, on existing entries or on a sample. */
import { Loader, Select, Stack, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { count, counted } from '../format/counts.ts'
import { type api, apiQuery } from '../server/api.ts'
import { asProblem, type Problem } from '../server/problem.ts'
import { SampleTrial } from './rule-sample.tsx'
import { TakenEntries } from './rule-taken.tsx'
import { Refused, type Tried, type TriedRule } from './rule-test-results.tsx'
import { bodyOf, isComplete, newBodyOf, type RuleDraft } from './rule-values.ts'
import { Segmented } from './segmented.tsx'
import { CardTitle, Note } from './texts.tsx'

export type TrialFilter = NonNullable<
  Parameters<(typeof api)['placement-rules']['test']['entries']['post']>[1]
>['query']

/** The number of recent entries to test with: the limit of one call. */
const TRIED = 1_000

/** Debounce before a test, which reads a thousand entries. */
const PAUSE_MS = 500

interface RuleTrialProps {
  title: string
  draft: RuleDraft
  /** The id of the saved rule that is being changed. */
  replaces?: string | undefined
  tryOn?: TrialFilter | undefined
  /** Shows issues next to their fields; `root` is the pointer of the rule in the request. */
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
      <CardTitle>{title}</CardTitle>
      <Segmented
        value={on}
        choose={(value) => setOn(value)}
        titles={{ entries: 'Existing entries', sample: 'Sample' }}
        aria-label="Test data"
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
  { value: 'these', label: 'These entries', filter: undefined },
  { value: 'unattributed', label: 'Unattributed entries', filter: { placed: ['none'] } },
  { value: 'all', label: 'All entries', filter: {} },
]

function EntriesTrial({ tried, tryOn, refused }: TrialProps) {
  const [set, setSet] = useState(tryOn ? 'these' : 'unattributed')
  const filter = (set === 'these' ? tryOn : SETS.find(({ value }) => value === set)!.filter) as TrialFilter
  const { data, error, isFetching } = useQuery({
    // Not part of the rules' cache: a rule that was just removed cannot be tested again.
    ...apiQuery(['rule-trial', tried, filter], (api) =>
      api['placement-rules'].test.entries.post({ ...tried, limit: TRIED }, { query: filter }),
    ),
    enabled: tried.rule !== undefined,
    placeholderData: (before) => before,
  })
  useRefusal(error, refused)
  return (
    <Stack gap="sm" aria-live="polite">
      <Select
        label="Test with the newest of"
        data={SETS.filter(({ value }) => value !== 'these' || tryOn).map(({ value, label }) => ({ value, label }))}
        value={set}
        onChange={(value) => value && setSet(value)}
        allowDeselect={false}
        size="xs"
        maw={260}
        rightSection={isFetching ? <Loader size={12} /> : undefined}
      />
      {tried.rule === undefined ? (
        <Note>Add a condition and choose a project to see which entries the rule would match.</Note>
      ) : error ? (
        <Refused problem={asProblem(error)} />
      ) : (
        data && <Verdict entries={data.data} hasMore={data.has_more} />
      )}
    </Stack>
  )
}

/** Shows the issues of a failed test next to their fields, once per failure. */
function useRefusal(error: Error | null, refused: (problem: Problem, root: string) => void) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: a refusal is shown once, also where the form is drawn anew
  useEffect(() => {
    if (error) refused(asProblem(error), '/rule')
  }, [error])
}

/** "47 of 47 entries match and will move", once the rules are applied. */
function verdictOf(matching: number, moving: number, of: string): string {
  const found = `${count(matching)} of ${of} match`
  if (matching === 0) return `${found}.`
  return moving === matching ? `${found} and will move.` : `${found}; ${count(moving)} will move.`
}

function Verdict({ entries, hasMore }: { entries: Tried[]; hasMore: boolean }) {
  const taken = entries.filter((entry) => entry.taken?.rule.id === null)
  const moving = taken.filter(({ applies }) => applies)
  const others = entries.filter(({ taken }) => taken && taken.rule.id !== null)
  const triedOn = hasMore ? `the newest ${count(entries.length)}` : counted(entries.length, 'entry', 'entries')
  if (entries.length === 0) {
    return <Note>There are no entries to test with. Choose other entries, or test a sample.</Note>
  }
  return (
    <Stack gap="xs">
      <Text size="sm">
        <b>{verdictOf(taken.length, moving.length, triedOn)}</b>
        {others.length > 0 && <> Other rules match {count(others.length)}.</>}
      </Text>
      {taken.length > 0 ? (
        <TakenEntries entries={taken} isNone={false} />
      ) : (
        // Entries that no rule matches come first, because they explain most.
        <TakenEntries entries={[...entries.filter(({ taken }) => !taken), ...others]} isNone />
      )}
    </Stack>
  )
}
