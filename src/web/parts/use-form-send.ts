/** Submits a form and shows validation errors at their fields, or above the form if they have none. */
import type { UseFormReturnType } from '@mantine/form'
import { useState } from 'react'
import { flushSync } from 'react-dom'
import { hasUnreadable } from '../format/read-numbers.ts'
import type { Part } from '../server/queries.ts'
import { showIssues, useSend } from '../server/send.ts'
import type { ifMatch } from '../server/versions.ts'
import { focusFirstIssue } from './first-issue.ts'

interface FormSending<Values, Answer> {
  form: UseFormReturnType<Values>
  send: (values: Values, options: ReturnType<typeof ifMatch>) => Promise<Answer>
  /** The object that is changed, as it was read when the form was opened. */
  of?: object | undefined
  changes: readonly Part[]
  done?: (answer: Answer, values: Values) => string | undefined
  after?: (answer: Answer, values: Values) => void
  /** Maps pointers to form fields that have another name. */
  fields?: Record<string, string> | ((values: Values) => Record<string, string>)
}

export function useFormSend<Values extends object, Answer>({
  form,
  fields = {},
  ...sending
}: FormSending<Values, Answer>) {
  const [refusal, setRefusal] = useState('')
  const { mutate, isPending } = useSend<Values, Answer>({ ...sending, quiet: true })
  const submit = form.onSubmit((values) => {
    setRefusal('')
    if (hasUnreadable(values)) return focusFirstIssue()
    mutate(values, {
      onError: (problem) => {
        // The fields must be marked before one of them is focused.
        flushSync(() => setRefusal(showIssues(form, problem, typeof fields === 'function' ? fields(values) : fields)))
        focusFirstIssue()
      },
    })
  }, focusFirstIssue)
  return { submit, refusal, isSending: isPending }
}
