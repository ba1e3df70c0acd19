import type { ComponentProps, ReactNode } from 'react'
import { Form, FormFoot, type FormState } from './form.tsx'
import { FormModal } from './form-modal.tsx'

interface FormDialogProps extends FormState, Omit<ComponentProps<typeof FormFoot>, 'isDangerous'> {
  title: string
  size?: string
  children: ReactNode
}

/**
 * A form in a dialog, which stays open until the server accepts it. Open while it is mounted, which is next to another form
 * and never in it: React's events bubble to it from the dialog, and both would be submitted. Its fields begin with
 * `initialValues`, or anew with a `key`: Mantine's `setValues` may be new on each render, and clears errors.
 */
export const FormDialog = ({ title, size, submit, refusal, children, ...foot }: FormDialogProps) => (
  <FormModal opened onClose={foot.close} title={title} size={size}>
    <Form sending={{ submit, refusal, isSending: foot.isSending }}>
      {children}
      <FormFoot {...foot} />
    </Form>
  </FormModal>
)
