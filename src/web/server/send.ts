/** Changing something: what is told when it worked, what no longer holds, and where the issues of a form are shown. */
import { notifications } from '@mantine/notifications'
import { useMutation } from '@tanstack/react-query'
import { asProblem, type Problem, sentence } from './problem.ts'
import { forget, type Part } from './queries.ts'

interface Sending<Input, Answer> {
  send: (input: Input) => Promise<Answer>
  /** Parts of the API whose answers may be different now. */
  changes: readonly Part[]
  /** Told in passing, such as "Bill 2026-0042 is sent." */
  done?: (answer: Answer, input: Input) => string
  /** Of what is gone now: goes elsewhere before anything is asked again, because its page would ask for it. */
  leave?: () => void
  /** After it worked: close what was open, go elsewhere. */
  after?: (answer: Answer, input: Input) => void
  /**
   * Where a refusal is shown by the caller itself, beside what was typed. Without it, a refusal is told in passing, which suits
   * buttons without a form.
   */
  quiet?: boolean
}

export function useSend<Input = void, Answer = unknown>(sending: Sending<Input, Answer>) {
  const { send, changes, done, leave, after, quiet } = sending
  return useMutation<Answer, Problem, Input>({
    mutationFn: send,
    onSuccess: async (answer, input) => {
      if (leave) {
        leave()
        // Until the page that was left is no longer there.
        await new Promise((resolve) => setTimeout(resolve))
      }
      await forget(changes)
      if (done) tell(done(answer, input))
      after?.(answer, input)
    },
    onError: (error) => {
      if (!quiet) tellProblem(asProblem(error))
    },
  })
}

export const tell = (message: string) => notifications.show({ message, color: 'teal', autoClose: 5_000 })

/** Stays until it is closed: nobody must miss that something did not happen. */
const tellProblem = ({ title, message, issues }: Problem) =>
  notifications.show({
    title,
    message: [message, ...issues.map((issue) => `${issue.pointer} ${issue.message}`)].join(' '),
    color: 'red',
    autoClose: false,
  })

/**
 * Puts the issues of a refusal beside the fields they are about, and answers what is left to say above the form.
 * `fields` names the form's field of each pointer that is not its own name: `{ '/tokens/input': 'input' }`.
 */
export function showIssues(
  form: { setErrors: (errors: Record<string, string>) => void; getValues: () => object },
  problem: Problem,
  fields: Record<string, string> = {},
): string {
  const known = form.getValues()
  const errors: Record<string, string> = {}
  const elsewhere: string[] = []
  for (const { pointer, message } of problem.issues) {
    const field = fields[pointer] ?? pointer.slice(1).replaceAll('/', '.')
    if (Object.hasOwn(known, field.split('.')[0]!)) errors[field] = sentence(message)
    else elsewhere.push(pointer === '' ? sentence(message) : `${pointer} ${message}.`)
  }
  form.setErrors(errors)
  if (problem.issues.length === 0) return problem.message
  return elsewhere.join(' ')
}
