/** Says that somebody else has changed what a form changes, and asks whether to save it anyway. */
import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useSyncExternalStore } from 'react'
import { openQuestion } from '../server/overwriting.ts'
import { Ago } from './figures.tsx'
import { Note } from './texts.tsx'

export function Overwrite() {
  const question = useSyncExternalStore(openQuestion.subscribe, openQuestion.current)
  if (!question) return null
  const { change, answer } = question
  return (
    <Modal opened onClose={() => answer(false)} title="Changed meanwhile" zIndex={400}>
      <Stack>
        <Text size="sm">
          <b>{change.by?.name ?? 'Somebody'}</b> changed this
          {change.at && (
            <>
              {' '}
              <Ago at={change.at} />
            </>
          )}
          , after you opened it. If you save your version, it replaces theirs.
        </Text>
        <Note>To see their change first, go back, copy what you typed, and open it again.</Note>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={() => answer(true)}>
            Save anyway
          </Button>
          <Button onClick={() => answer(false)} data-autofocus>
            Go back
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
