import { ActionIcon, Button, Checkbox, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import { EMPTY_ROW, FIELDS, type Kind } from './condition.ts'
import classes from './rule-editor.module.css'
import type { RuleForm } from './rule-form.ts'

const KINDS: { value: Kind; label: string }[] = [
  { value: 'glob', label: 'is like' },
  { value: 'expression', label: 'contains' },
]

/** As many as the API takes. */
const CONDITIONS_LIMIT = 20

/** The conditions of a rule, all of which must hold. */
export function RuleConditions({ form }: { form: RuleForm }) {
  const { rows } = form.values
  return (
    <Stack gap="xs" component="fieldset" className={classes.fieldset}>
      <Text component="legend" size="sm" fw={600} mb={4}>
        Takes an entry where all of this holds
      </Text>
      {rows.map((_, index) => (
        // Rows have nothing that names them but where they stand.
        // biome-ignore lint/suspicious/noArrayIndexKey: see above
        <ConditionFields key={index} form={form} index={index} isOnly={rows.length === 1} />
      ))}
      {form.errors.rows && (
        <Text size="xs" c="var(--mantine-color-error)" role="alert">
          {form.errors.rows}
        </Text>
      )}
      <Group justify="space-between">
        <Button
          variant="subtle"
          size="compact-sm"
          leftSection={<IconPlus size={14} />}
          disabled={rows.length >= CONDITIONS_LIMIT}
          onClick={() => form.insertListItem('rows', EMPTY_ROW)}
        >
          Another condition
        </Button>
      </Group>
      <Text size="xs" c="dimmed">
        <b>is like</b>: the whole value, where <code>*</code> stands for any characters and <code>?</code> for one, in
        upper or lower case. <b>contains</b>: an RE2 expression found anywhere in it; a named group such as{' '}
        <code>(?&lt;ticket&gt;[A-Z]+-[0-9]+)</code> can make the ticket.
      </Text>
    </Stack>
  )
}

interface ConditionFieldsProps {
  form: RuleForm
  index: number
  isOnly: boolean
}

function ConditionFields({ form, index, isOnly }: ConditionFieldsProps) {
  const { field, kind } = form.values.rows[index]!
  const input = (name: string) => form.getInputProps(`rows.${index}.${name}`)
  const nth = `Condition ${index + 1}`
  return (
    <div className={classes.condition}>
      <Select
        data={FIELDS}
        allowDeselect={false}
        aria-label={`${nth}: field`}
        {...input('field')}
        className={field === 'labels' ? classes.field : classes.wideField}
      />
      {field === 'labels' && (
        <TextInput
          aria-label={`${nth}: name of the label`}
          placeholder="repository"
          className={classes.label}
          {...input('label')}
        />
      )}
      <Select
        data={KINDS}
        allowDeselect={false}
        aria-label={`${nth}: how it is compared`}
        className={classes.kind}
        {...input('kind')}
      />
      <div className={classes.text}>
        <TextInput
          aria-label={`${nth}: ${kind === 'glob' ? 'pattern' : 'expression'}`}
          placeholder={kind === 'glob' ? 'acme/*' : '(?<ticket>[A-Z]+-[0-9]+)'}
          classNames={{ input: classes.pattern }}
          spellCheck={false}
          autoCapitalize="off"
          leftSection={kind === 'expression' ? '/' : undefined}
          {...input('text')}
        />
        {kind === 'expression' && (
          <Checkbox
            size="xs"
            mt={6}
            label="Ignore case"
            {...form.getInputProps(`rows.${index}.ignoresCase`, { type: 'checkbox' })}
          />
        )}
      </div>
      <ActionIcon
        variant="subtle"
        color="gray"
        mt={4}
        aria-label={`Remove condition ${index + 1}`}
        disabled={isOnly}
        onClick={() => form.removeListItem('rows', index)}
      >
        <IconX size={16} />
      </ActionIcon>
    </div>
  )
}
