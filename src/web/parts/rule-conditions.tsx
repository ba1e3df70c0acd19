import { ActionIcon, Button, Checkbox, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import { type ConditionRow, EMPTY_ROW, FIELDS, type Kind } from './condition.ts'
import classes from './rule-editor.module.css'
import type { RuleForm } from './rule-form.ts'
import { Caption } from './texts.tsx'

const KINDS: { value: Kind; label: string }[] = [
  { value: 'glob', label: 'glob' },
  { value: 'expression', label: 'regex' },
]

/** The API's limit. */
const CONDITIONS_LIMIT = 20

/** A form with conditions. */
interface ConditionsForm extends Pick<RuleForm, 'errors'> {
  values: { rows: ConditionRow[] }
  getInputProps(path: string, options?: { type: 'checkbox' }): ReturnType<RuleForm['getInputProps']>
  insertListItem(path: 'rows', row: ConditionRow): void
  removeListItem(path: 'rows', index: number): void
}

interface RuleConditionsProps {
  form: ConditionsForm
  title?: string
  /** Of what there may be no conditions: those of a rule also give it groups for its ticket. */
  mayBeEmpty?: boolean
}

/** The conditions of a rule, all of which must match. */
export function RuleConditions({ form, title = 'All conditions must match', mayBeEmpty }: RuleConditionsProps) {
  const { rows } = form.values
  return (
    <Stack gap="xs" component="fieldset" className={classes.fieldset}>
      <Text component="legend" size="sm" fw={600} mb={4}>
        {title}
      </Text>
      {rows.map((_, index) => (
        // Rows have no id.
        // biome-ignore lint/suspicious/noArrayIndexKey: see above
        <ConditionFields key={index} form={form} index={index} isOnly={!mayBeEmpty && rows.length === 1} />
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
          onClick={() =>
            form.insertListItem('rows', mayBeEmpty ? { ...EMPTY_ROW, field: 'agent_harness', label: '' } : EMPTY_ROW)
          }
        >
          Add condition
        </Button>
      </Group>
      <Caption>
        <b>glob</b> matches the whole value and ignores case; <code>*</code> matches any characters and <code>?</code>{' '}
        matches one. <b>regex</b> is an RE2 expression that matches anywhere in the value.
        {!mayBeEmpty && (
          <>
            {' '}
            The ticket can use its named groups, such as <code>(?&lt;ticket&gt;[A-Z]+-[0-9]+)</code>.
          </>
        )}
      </Caption>
    </Stack>
  )
}

interface ConditionFieldsProps {
  form: ConditionsForm
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
          aria-label={`${nth}: label name`}
          placeholder="repository"
          className={classes.label}
          {...input('label')}
        />
      )}
      <Select
        data={KINDS}
        allowDeselect={false}
        aria-label={`${nth}: pattern type`}
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
