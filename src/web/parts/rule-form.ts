import { useForm } from '@mantine/form'
import type { RuleDraft } from './rule-values.ts'

/** The form of a rule with its client-side validation. */
export function useRuleForm(initialValues: RuleDraft) {
  return useForm({
    initialValues,
    validate: {
      name: (name) => (name.trim() === '' ? 'Enter a name.' : null),
      project: (project) => (project === null ? 'Choose a project.' : null),
      rows: {
        label: (label, { rows }, path) =>
          rows[Number(path.split('.')[1])]!.field === 'labels' && label.trim() === '' ? 'Enter a label name.' : null,
        text: (text) => (text === '' ? 'Enter a pattern; * matches everything.' : null),
      },
    },
  })
}

export type RuleForm = ReturnType<typeof useRuleForm>
