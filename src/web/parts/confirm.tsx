import { Alert, Button, Group, Modal, Stack } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { asProblem, type Problem } from '../server/problem.ts'

interface ConfirmProps {
  isOpen: boolean
  close: () => void
  title: string
  /** What will happen, and what it means for whom. */
  children: ReactNode
  /** The verb on the button: "Void the bill". */
  action: string
  /** Red where something ends. */
  isDangerous?: boolean
  /** Keeps the button off, as while a reason is missing. */
  isIncomplete?: boolean
  /** A refusal is shown here and the dialogue stays, with what was typed. */
  confirm: () => Promise<unknown>
}

/** Asks before what cannot be taken back, or is seen by others. */
export function Confirm({ isOpen, close, title, children, action, isDangerous, isIncomplete, confirm }: ConfirmProps) {
  const [problem, setProblem] = useState<Problem | null>(null)
  const [isRunning, setRunning] = useState(false)
  const leave = () => {
    setProblem(null)
    close()
  }
  const run = async () => {
    setRunning(true)
    setProblem(null)
    try {
      await confirm()
      leave()
    } catch (error) {
      setProblem(asProblem(error))
    } finally {
      setRunning(false)
    }
  }
  return (
    <Modal opened={isOpen} onClose={leave} title={title}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void run()
        }}
      >
        <Stack>
          {children}
          {problem && (
            <Alert color="red" variant="light" title={problem.title} role="alert">
              {problem.message}
            </Alert>
          )}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={leave}>
              Cancel
            </Button>
            <Button type="submit" color={isDangerous ? 'red.8' : undefined} loading={isRunning} disabled={isIncomplete}>
              {action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
