/** The question before what was entered into a form is discarded. */
import { Button, Group, Modal, Stack, Text } from '@mantine/core'

interface DiscardQuestionProps {
  isOpen: boolean
  keep: () => void
  discard: () => void
}

export const DiscardQuestion = ({ isOpen, keep, discard }: DiscardQuestionProps) => (
  <Modal opened={isOpen} onClose={keep} title="Discard changes?" zIndex={400}>
    <Stack>
      <Text size="sm">What you entered has not been saved.</Text>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={keep} data-autofocus>
          Keep editing
        </Button>
        <Button color="red.8" onClick={discard}>
          Discard changes
        </Button>
      </Group>
    </Stack>
  </Modal>
)

/** Choices of a select are clicks on options, which are elsewhere in the document but in the form for React. */
const isChoice = (target: EventTarget) => (target as HTMLElement).closest('[role="option"]') !== null

/** Listeners of an element around a form, which note that something was entered. */
export const noting = (note: () => void) => ({
  onInput: note,
  onChange: note,
  onClick: ({ target }: { target: EventTarget }) => {
    if (isChoice(target)) note()
  },
})
