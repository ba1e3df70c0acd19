import { Alert, Button, Group, Stack } from '@mantine/core'
import type { FormEventHandler, ReactNode } from 'react'
import classes from './form-dialog.module.css'
import { FormModal } from './form-modal.tsx'

interface FormDialogProps {
  title: string
  close: () => void
  /** The verb on the button: "Add client". */
  action: string
  submit: FormEventHandler<HTMLFormElement>
  isSending: boolean
  /** The error that is not shown at a field. */
  refusal: string
  /** More actions, to the left of the buttons. */
  more?: ReactNode
  size?: string
  children: ReactNode
}

/**
 * A form in a dialog, which stays open until the server accepts it. Open while it is mounted, which is next to another form
 * and never in it: React's events bubble to it from the dialog, and both would be submitted. Its fields begin with
 * `initialValues`, or anew with a `key`: Mantine's `setValues` may be new on each render, and clears errors.
 */
export const FormDialog = ({
  title,
  close,
  action,
  submit,
  isSending,
  refusal,
  more,
  size,
  children,
}: FormDialogProps) => (
  <FormModal opened onClose={close} title={title} size={size}>
    <form onSubmit={submit} noValidate>
      <Stack>
        {refusal !== '' && (
          <Alert color="red" variant="light" role="alert">
            {refusal}
          </Alert>
        )}
        {children}
        <Group className={classes.foot} justify="space-between" gap="xs">
          <Group gap="xs">{more}</Group>
          <Group gap="xs">
            <Button variant="default" onClick={close}>
              Cancel
            </Button>
            <Button type="submit" loading={isSending}>
              {action}
            </Button>
          </Group>
        </Group>
      </Stack>
    </form>
  </FormModal>
)
