/** The fields of a webhook, in the dialogs that add and edit one. */
import { Group, MultiSelect, Select, Stack, Text, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { ClientPicker, ProjectPicker } from '../../parts/pickers.tsx'
import { Caption } from '../../parts/texts.tsx'
import { describeType, FORMATS, formatOf, TYPE_GROUPS, type WebhookValues } from './webhook-values.ts'

export const VALIDATION = {
  name: (name: string) => (name.trim() === '' ? 'Required.' : null),
  url: (url: string) => (/^https?:\/\//i.test(url.trim()) ? null : 'Enter an address that begins with https://.'),
  types: (types: string[]) => (types.length === 0 ? 'Choose at least one type of events.' : null),
}

/** Where the form shows the issues of a type. */
export const issueFields = ({ types }: WebhookValues): Record<string, string> =>
  Object.fromEntries(types.map((_, at) => [`/types/${at}`, 'types']))

interface WebhookFieldsProps {
  form: UseFormReturnType<WebhookValues>
  /** Whether somebody else owns the webhook. */
  isOfOther?: boolean
}

export function WebhookFields({ form, isOfOther = false }: WebhookFieldsProps) {
  const { format } = form.values
  const { onChange: changeUrl, ...url } = form.getInputProps('url')
  return (
    <>
      <TextInput
        label="Name"
        description="Shown in lists and in e-mails about failures."
        data-autofocus
        {...form.getInputProps('name')}
      />
      <TextInput
        label="Address"
        description={
          isOfOther
            ? 'Where events are sent to. If you change it, you become the owner of the webhook.'
            : 'Where events are sent to. The address of a chat’s webhook is a secret.'
        }
        placeholder="https://"
        type="url"
        {...url}
        onChange={(event) => {
          const suggested = formatOf(event.currentTarget.value)
          if (suggested) form.setFieldValue('format', suggested)
          changeUrl(event)
        }}
      />
      <Select
        label="Format"
        description={FORMATS.find(({ value }) => value === format)?.description}
        data={FORMATS}
        allowDeselect={false}
        {...form.getInputProps('format')}
      />
      <MultiSelect
        label="Events"
        description="The types of events to send."
        data={TYPE_GROUPS}
        searchable
        clearable
        hidePickedOptions
        // The list itself scrolls, which follows the keyboard.
        withScrollArea={false}
        styles={{ options: { maxHeight: 280, overflowY: 'auto' } }}
        nothingFoundMessage="No such type"
        renderOption={({ option }) => (
          <div>
            <Text size="sm">{option.label}</Text>
            <Text size="xs" c="inherit">
              {describeType(option.value)}
            </Text>
          </div>
        )}
        {...form.getInputProps('types')}
      />
      <Stack gap={4}>
        <Group grow align="flex-start">
          <ClientPicker
            label="Client"
            placeholder="Any"
            value={form.values.client}
            change={(client) => form.setValues({ client, ...(client && { project: null }) })}
            error={form.errors.client}
          />
          <ProjectPicker
            label="Project"
            placeholder="Any"
            value={form.values.project}
            change={(project) => form.setValues({ project, ...(project && { client: null }) })}
            error={form.errors.project}
          />
        </Group>
        <Caption>
          Choose one of them to send only events of that client’s projects and bills, or of that project.
        </Caption>
      </Stack>
    </>
  )
}
