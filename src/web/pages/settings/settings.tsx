/** The organization's settings in one form. Unsaved input is kept when you navigate away. */
import { Button, Group, Paper, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useEffect } from 'react'
import { REQUIRED_LIMIT } from '../../../shared/sheet-fields.ts'
import { Refusal } from '../../parts/form.tsx'
import { Page } from '../../parts/page.tsx'
import { useFormSend } from '../../parts/use-form-send.ts'
import { answer, api } from '../../server/api.ts'
import { useSettings } from '../../server/me.ts'
import { Fields } from './fields.tsx'
import { Logo } from './logo.tsx'
import { type AllSettings, changeOf, type SettingsValues, valuesOf } from './values.ts'

export default function Settings() {
  const saved = useSettings()
  // Unsaved input belongs to the settings that it began with, whatever others have saved since.
  const settings = kept?.settings ?? saved
  return (
    <Page
      title="Settings"
      lead="These settings apply to the whole organization. Bills keep the details they were sent with."
    >
      <SettingsForm key={JSON.stringify(valuesOf(settings))} settings={settings} />
    </Page>
  )
}

/** Each of the required fields is an item of one input. */
const ISSUE_FIELDS = Object.fromEntries(
  Array.from({ length: REQUIRED_LIMIT }, (_, index) => [`/sheet_required_fields/${index}`, 'sheet_required_fields']),
)

/** Unsaved input; kept until the tab is closed. */
let kept: { values: SettingsValues; settings: AllSettings } | null = null

function SettingsForm({ settings }: { settings: AllSettings }) {
  const form = useForm({
    initialValues: kept?.values ?? valuesOf(settings),
    validate: { due_days: (days) => (days === '' ? 'Required. Enter 0 if bills are due at once.' : null) },
    onValuesChange: (values) => {
      kept = Object.keys(changeOf(values, settings)).length > 0 ? { values, settings } : null
    },
  })
  const isDirty = Object.keys(changeOf(form.values, settings)).length > 0
  useStayWhile(isDirty)
  const { submit, refusal, isSending } = useFormSend({
    form,
    of: settings,
    send: async (values: SettingsValues, options) => {
      await answer(api.settings.patch(changeOf(values, settings), options))
      kept = null
    },
    changes: ['me', 'settings', 'reports', 'audit'],
    done: () => 'Settings saved.',
    fields: ISSUE_FIELDS,
  })
  const discard = () => {
    kept = null
    form.setValues(valuesOf(settings))
    form.setErrors({})
  }
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="xl" maw={760}>
        <Fields form={form} logo={<Logo type={settings.logo ?? null} />} />
        <Refusal text={refusal} />
        {isDirty && (
          <Paper withBorder shadow="md" p="sm" pos="sticky" bottom={12} style={{ zIndex: 3 }}>
            <Group justify="space-between">
              <Text size="sm">Unsaved changes</Text>
              <Group gap="xs">
                <Button variant="default" onClick={discard}>
                  Discard
                </Button>
                <Button type="submit" loading={isSending}>
                  Save changes
                </Button>
              </Group>
            </Group>
          </Paper>
        )}
      </Stack>
    </form>
  )
}

/** Makes the browser ask before the tab is closed. */
function useStayWhile(isDirty: boolean) {
  useEffect(() => {
    if (!isDirty) return
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [isDirty])
}
