/** A dialog for a form. Esc, a click outside or the cross asks before it discards what was entered; Cancel does not. */
import { Button, Group, Modal, type ModalProps, Stack, Text } from '@mantine/core'
import { type MouseEvent, useEffect, useState } from 'react'

/** Choices of a select are clicks on options, which are elsewhere in the document but in the form for React. */
const isChoice = ({ target }: MouseEvent) => (target as HTMLElement).closest('[role="option"]') !== null

export function FormModal({ opened, onClose, children, ...props }: ModalProps) {
  const [isChanged, setChanged] = useState(false)
  const [isAsking, setAsking] = useState(false)
  // After the key that closes one dialog: the other one listens to the same press.
  const ask = (isAsking: boolean) => void setTimeout(() => setAsking(isAsking))
  const leave = () => {
    setAsking(false)
    setChanged(false)
    onClose()
  }
  const note = () => setChanged(true)
  // What was sent is not discarded, and the next time the form is new.
  useEffect(() => {
    if (opened) return
    setChanged(false)
    setAsking(false)
  }, [opened])
  return (
    <>
      <Modal
        {...props}
        opened={opened}
        onClose={() => (isChanged ? ask(true) : leave())}
        closeOnEscape={!isAsking}
        trapFocus={!isAsking}
      >
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: only listens, also to clicks that keys make */}
        {/* biome-ignore lint/a11y/noStaticElementInteractions: see above */}
        <div onInput={note} onChange={note} onClick={(event) => isChoice(event) && note()}>
          {children}
        </div>
      </Modal>
      <Modal opened={opened && isAsking} onClose={() => ask(false)} title="Discard changes?" zIndex={400}>
        <Stack>
          <Text size="sm">What you entered has not been saved.</Text>
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={() => ask(false)} data-autofocus>
              Keep editing
            </Button>
            <Button color="red.8" onClick={leave}>
              Discard changes
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  )
}
