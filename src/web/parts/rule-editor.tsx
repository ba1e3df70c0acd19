/** The editor of a placement rule: conditions, project and ticket, with a test before it is saved. */
import { Alert, Button, Grid, Group, Paper, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import { hasUnreadable } from '../format/read-numbers.ts'
import { answer, api } from '../server/api.ts'
import type { Problem } from '../server/problem.ts'
import { showIssues, useSend } from '../server/send.ts'
import { groupsIn } from './condition.ts'
import { focusFirstIssue } from './first-issue.ts'
import { CountField } from './number-fields.tsx'
import { ProjectPicker } from './pickers.tsx'
import type { Rule } from './rule.ts'
import { RuleConditions } from './rule-conditions.tsx'
import { type RuleForm, useRuleForm } from './rule-form.ts'
import { RuleTrial, type TrialFilter } from './rule-trial.tsx'
import { bodyOf, emptyDraft, fieldsOf, newBodyOf, type RuleDraft } from './rule-values.ts'

const rules = api['placement-rules']

interface RuleEditorProps {
  /** Initial values. */
  start?: Partial<RuleDraft>
  /** The rule to change; without it, a rule is created. */
  rule?: Rule
  /** The entries to test with initially; unattributed entries by default. */
  tryOn?: TrialFilter
  /** Whether it may be saved; otherwise it can only be tested. */
  mayChange?: boolean
  saved: (rule: Rule) => void
  leave: () => void
}

export function RuleEditor({ start, rule, tryOn, mayChange = true, saved, leave }: RuleEditorProps) {
  const [refusal, setRefusal] = useState('')
  const form = useRuleForm({ ...emptyDraft(), ...start })
  const save = useSend({
    of: rule,
    send: (draft: RuleDraft, options) =>
      rule ? answer(rules({ id: rule.id }).patch(bodyOf(draft), options)) : answer(rules.post(newBodyOf(draft))),
    changes: ['rules', 'audit'],
    done: ({ name }) => `Rule “${name}” saved. It applies to new entries from now on.`,
    after: (changed) => saved(changed),
    quiet: true,
  })
  const showProblem = (problem: Problem, root = '') => showIssues(form, problem, fieldsOf(form.getValues(), root))
  const submit = form.onSubmit((draft) => {
    setRefusal('')
    if (hasUnreadable(draft)) return focusFirstIssue()
    save.mutate(draft, { onError: (problem) => setRefusal(showProblem(problem)) })
  })
  return (
    <Grid gap="lg">
      <Grid.Col span={{ base: 12, lg: 6 }}>
        <form onSubmit={submit} noValidate>
          <Stack>
            {refusal !== '' && (
              <Alert color="red" variant="light" role="alert">
                {refusal}
              </Alert>
            )}
            <TextInput label="Name" placeholder="ACME by branch" {...form.getInputProps('name')} />
            <RuleConditions form={form} />
            <RulePlace form={form} />
            {!rule && (
              <CountField
                label="Position"
                description="The first rule that matches an entry assigns it."
                placeholder="Last"
                min={1}
                maw={260}
                {...form.getInputProps('position')}
              />
            )}
            <Group gap="xs">
              {mayChange && (
                <Button type="submit" loading={save.isPending}>
                  Save rule
                </Button>
              )}
              <Button variant="default" onClick={leave}>
                {mayChange ? 'Cancel' : 'Close'}
              </Button>
            </Group>
          </Stack>
        </form>
      </Grid.Col>
      <Grid.Col span={{ base: 12, lg: 6 }}>
        <Paper withBorder p="md">
          <RuleTrial
            title={mayChange ? 'Test before saving' : 'Test rule'}
            draft={form.values}
            replaces={rule?.id}
            tryOn={tryOn}
            refused={showProblem}
          />
        </Paper>
      </Grid.Col>
    </Grid>
  )
}

function RulePlace({ form }: { form: RuleForm }) {
  const groups = groupsIn(form.values.rows)
  const { value, onChange, ...project } = form.getInputProps('project')
  return (
    <Stack gap="xs">
      <ProjectPicker {...project} label="Assign to project" value={value} change={onChange} required />
      <TextInput
        label="Assign to ticket"
        placeholder={groups[0] ? `{${groups[0]}}` : 'None'}
        spellCheck={false}
        description={
          groups.length > 0
            ? `Optional. ${groups.map((group) => `{${group}}`).join(', ')} is replaced with what the expression matched.`
            : 'Optional. Can contain named groups of a regex above, in braces, such as {ticket}.'
        }
        {...form.getInputProps('ticket')}
      />
      {form.values.ticket.trim() === '' && (
        <Text size="xs" c="dimmed">
          Without a ticket, entries are assigned to the project only.
        </Text>
      )}
    </Stack>
  )
}
