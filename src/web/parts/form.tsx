/** What forms have in common: the error that is shown at no field, above them, and the buttons of dialogs, below them. */
import { Alert, Button, Group, Stack, type StackProps } from '@mantine/core'
import type { FormEventHandler, ReactNode } from 'react'
import classes from './form.module.css'

/** As `useFormSend` returns it. */
export interface FormState {
  submit: FormEventHandler<HTMLFormElement>
  isSending: boolean
  /** The error that is not shown at a field. */
  refusal: string
}

export const Refusal = ({ text }: { text: string | undefined }) =>
  text ? (
    <Alert color="red" variant="light" role="alert">
      {text}
    </Alert>
  ) : null

export const Form = ({ sending, children, ...stack }: StackProps & { sending: FormState; children: ReactNode }) => (
  <form onSubmit={sending.submit} noValidate>
    <Stack {...stack}>
      <Refusal text={sending.refusal} />
      {children}
    </Stack>
  </form>
)

interface FormFootProps {
  /** The verb on the button: "Add client". */
  action: string
  isSending: boolean
  close: () => void
  /** Makes the button red. */
  isDangerous?: boolean | undefined
  /** Disables the button, for example while a reason is missing. */
  isIncomplete?: boolean | undefined
  /** More actions, to the left of the buttons. */
  more?: ReactNode
}

export const FormFoot = ({ action, isSending, close, isDangerous, isIncomplete, more }: FormFootProps) => (
  <Group className={classes.foot} justify="space-between" gap="xs">
    <Group gap="xs">{more}</Group>
    <Group gap="xs">
      <Button variant="default" onClick={close}>
        Cancel
      </Button>
      <Button type="submit" color={isDangerous ? 'red.8' : undefined} loading={isSending} disabled={isIncomplete}>
        {action}
      </Button>
    </Group>
  </Group>
)
