/** The editor of a placement rule: conditions, project and ticket, with a test before it is saved. */
import { Button, Grid, Group, Paper, Stack, TextInput } from '@mantine/core'
import { answer, api } from '../server/api.ts'
import { showIssues } from '../server/send.ts'
import { groupsIn } from './condition.ts'
import { Form } from './form.tsx'
import { CountField } from './number-fields.tsx'
import { ProjectPicker } from './pickers.tsx'
import type { Rule } from './rule.ts'
import { RuleConditions } from './rule-conditions.tsx'
import { type RuleForm, useRuleForm } from './rule-form.ts'
import { RuleTrial, type TrialFilter } from './rule-trial.tsx'
import { bodyOf, emptyDraft, fieldsOf, newBodyOf, type RuleDraft } from './rule-values.ts'
import { Caption } from './texts.tsx'
import { useFormSend } from './use-form-send.ts'

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
  const form = useRuleForm({ ...emptyDraft(), ...start })
  const sending = useFormSend({
    form,
    of: rule,
    send: (draft: RuleDraft, options): Promise<Rule> =>
      rule ? answer(rules({ id: rule.id }).patch(bodyOf(draft), options)) : answer(rules.post(newBodyOf(draft))),
    changes: ['rules', 'audit'],
    done: ({ name }) => `Rule “${name}” saved. It applies to new entries from now on.`,
    after: (changed) => saved(changed),
    fields: fieldsOf,
  })
  return (
    <Grid gap="lg">
      <Grid.Col span={{ base: 12, lg: 6 }}>
        <Form sending={sending}>
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
              <Button type="submit" loading={sending.isSending}>
                Save rule
              </Button>
            )}
            <Button variant="default" onClick={leave}>
              {mayChange ? 'Cancel' : 'Close'}
            </Button>
          </Group>
        </Form>
      </Grid.Col>
      <Grid.Col span={{ base: 12, lg: 6 }}>
        <Paper withBorder p="md">
          <RuleTrial
            title={mayChange ? 'Test before saving' : 'Test rule'}
            draft={form.values}
            replaces={rule?.id}
            tryOn={tryOn}
            refused={(problem, root) => showIssues(form, problem, fieldsOf(form.getValues(), root))}
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
        <Caption>Without a ticket, entries are assigned to the project only.</Caption>
      )}
    </Stack>
  )
}
