import { Alert, Stack } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { asProblem, type Problem } from '../server/problem.ts'
import { type CallOptions, type Sending, useSend } from '../server/send.ts'
import { FormFoot } from './form.tsx'
import { FormModal } from './form-modal.tsx'

interface ConfirmProps {
  isOpen: boolean
  close: () => void
  title: string
  /** What will happen, and whom it affects. */
  children: ReactNode
  /** The verb on the button: "Void bill". */
  action: string
  /** Makes the button red. */
  isDangerous?: boolean
  /** Disables the button, for example while a reason is missing. */
  isIncomplete?: boolean
  /** If it fails, the dialog stays open and shows the error. */
  confirm: () => Promise<unknown>
}

/** Asks for confirmation of an action that cannot be undone or that others see. */
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
    <FormModal opened={isOpen} onClose={leave} title={title}>
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
          <FormFoot
            action={action}
            close={leave}
            isSending={isRunning}
            isDangerous={isDangerous}
            isIncomplete={isIncomplete}
          />
        </Stack>
      </form>
    </FormModal>
  )
}

interface ConfirmChangeProps<Answer>
  extends Omit<ConfirmProps, 'confirm'>,
    Omit<Sending<void, Answer>, 'send' | 'quiet'> {
  send: (options: CallOptions) => Promise<Answer>
}

/** Asks for confirmation of a change that one request makes. */
export function ConfirmChange<Answer>({
  send,
  of,
  changes,
  done,
  leave,
  after,
  ...dialog
}: ConfirmChangeProps<Answer>) {
  const change = useSend<void, Answer>({
    send: (_, options) => send(options),
    of,
    changes,
    done,
    leave,
    after,
    quiet: true,
  })
  return <Confirm {...dialog} confirm={() => change.mutateAsync()} />
}
