import { useForm } from '@mantine/form'
import type { RuleDraft } from './rule.ts'

/** The fields of a rule, and what can be said against them without asking. */
export function useRuleForm(initialValues: RuleDraft) {
  return useForm({
    initialValues,
    validate: {
      name: (name) => (name.trim() === '' ? 'Is required: a few words.' : null),
      project: (project) => (project === null ? 'Is required: where it places entries.' : null),
      rows: {
        label: (label, { rows }, path) =>
          rows[Number(path.split('.')[1])]!.field === 'labels' && label.trim() === '' ? 'Which?' : null,
        text: (text) => (text === '' ? 'Is required; * takes everything.' : null),
      },
    },
  })
}

export type RuleForm = ReturnType<typeof useRuleForm>
