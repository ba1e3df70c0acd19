import { Badge, Button, Group, SimpleGrid, Stack, Text, Textarea, TextInput, Timeline } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useState } from 'react'
import { answer, api } from '../server/api.ts'
import type { Problem } from '../server/problem.ts'
import { useSend } from '../server/send.ts'
import { fieldTitle } from './condition.ts'
import { issueOfLabels, labelsOf } from './labels-text.ts'
import type { Explanation, Sample } from './rule.ts'
import { Refused, type TriedRule } from './rule-test-results.tsx'
import { Caption } from './texts.tsx'

const PLAIN = ['agent_harness', 'agent_name', 'model', 'provider', 'agent_manager'] as const

const EXAMPLES: Record<(typeof PLAIN)[number], string> = {
  agent_harness: 'claude-code',
  agent_name: 'reviewer',
  model: 'claude-sonnet-4-5',
  provider: 'anthropic',
  agent_manager: 'ada@example.com',
}

interface Values extends Record<(typeof PLAIN)[number] | 'summary' | 'labels', string> {}

const EMPTY: Values = {
  agent_harness: '',
  agent_name: '',
  model: '',
  provider: '',
  agent_manager: '',
  summary: '',
  labels: '',
}

/** The sample from the form. Empty fields are absent and match no condition. */
function sampleOf({ labels, ...texts }: Values): Sample {
  const given = Object.entries(texts).filter(([, text]) => text.trim() !== '')
  return { ...Object.fromEntries(given), ...(labels.trim() === '' ? {} : { labels: labelsOf(labels) }) }
}

interface SampleTrialProps {
  /** The rule to test together with the saved ones; without it, only those. */
  tried: TriedRule
  refused?: (problem: Problem, root: string) => void
}

/** Shows how the rules handle a sample entry. */
export function SampleTrial({ tried, refused }: SampleTrialProps) {
  const [problem, setProblem] = useState<Problem | null>(null)
  const form = useForm({
    initialValues: EMPTY,
    validate: { labels: issueOfLabels },
  })
  const ask = useSend({
    send: (values: Values) => answer(api['placement-rules'].test.post({ ...tried, sample: sampleOf(values) })),
    changes: [],
    quiet: true,
  })
  const submit = form.onSubmit((values) => {
    setProblem(null)
    ask.mutate(values, {
      onError: (problem) => {
        setProblem(problem)
        refused?.(problem, '/rule')
      },
    })
  })
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="xs">
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xs">
          {PLAIN.map((field) => (
            <TextInput
              key={field}
              size="xs"
              label={fieldTitle(field)}
              placeholder={EXAMPLES[field]}
              {...form.getInputProps(field)}
            />
          ))}
          <TextInput
            size="xs"
            label="Summary"
            placeholder="Fix the flaky login test"
            {...form.getInputProps('summary')}
          />
        </SimpleGrid>
        <Textarea
          size="xs"
          label="Labels, one per line"
          autosize
          minRows={2}
          placeholder={'repository=acme/web\nbranch=feature/ACME-42'}
          {...form.getInputProps('labels')}
        />
        <Group>
          <Button type="submit" size="xs" variant="light" loading={ask.isPending}>
            Test sample
          </Button>
        </Group>
        {problem && <Refused problem={problem} />}
        {ask.data && !problem && <Explained explanation={ask.data} />}
      </Stack>
    </form>
  )
}

const VERDICTS: Record<Explanation['steps'][number]['verdict'], string> = {
  takes: 'matches',
  disabled: 'is disabled',
  project_archived: 'is skipped because its project is archived',
  foreign_repository: 'is skipped because its project no longer has the repository',
  not_met: 'does not match',
}

function Explained({ explanation: { taken, steps } }: { explanation: Explanation }) {
  return (
    <Stack gap="xs" role="status">
      <Text size="sm">
        {taken ? (
          <>
            <b>{taken.rule.name}</b> assigns it to{' '}
            <b>{[taken.project.key, taken.ticket].filter(Boolean).join(' · ')}</b>.{taken.note && ` ${taken.note}`}
          </>
        ) : (
          <>
            <b>No rule matches</b>: the entry would be unattributed.
          </>
        )}
      </Text>
      <Timeline bulletSize={14} lineWidth={2} active={-1}>
        {steps.map(({ rule, verdict, failed }) => (
          <Timeline.Item
            key={rule.id ?? 'unsaved'}
            title={
              <Text size="sm" component="span">
                {rule.name} {rule.id === null && <Badge size="xs">unsaved</Badge>}{' '}
                <Text span inherit c={verdict === 'takes' ? undefined : 'dimmed'} fw={verdict === 'takes' ? 600 : 400}>
                  {VERDICTS[verdict]}
                </Text>
              </Text>
            }
          >
            {failed.map(({ field, matches, value }) => (
              <Caption key={`${field} ${matches}`}>
                {fieldTitle(field)} is {value === null ? 'not set' : `“${value}”`}; the rule requires{' '}
                <code>{matches}</code>
              </Caption>
            ))}
          </Timeline.Item>
        ))}
      </Timeline>
    </Stack>
  )
}
