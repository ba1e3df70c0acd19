/** Mutations: the success message, the queries to invalidate, and where a form shows its validation issues. */
import { notifications } from '@mantine/notifications'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { asksToOverwrite } from './overwriting.ts'
import { asProblem, Problem, sentence } from './problem.ts'
import { forget, type Part } from './queries.ts'
import { ifMatch, versionOf } from './versions.ts'

export interface Sending<Input, Answer> {
  /** `options` are those of the call that changes `of`. */
  send: (input: Input, options: CallOptions) => Promise<Answer>
  /** The object that is changed, as it was read when the form was opened: a change by somebody else is not overwritten. */
  of?: object | undefined
  /** Parts of the API whose cached responses are invalidated. */
  changes: readonly Part[]
  /** The success notification, such as "Bill 2026-0042 sent."; undefined if nothing was changed yet. */
  done?: ((answer: Answer, input: Input) => string | undefined) | undefined
  /** After a removal: navigates away before queries are refetched, because the page would request what is gone. */
  leave?: (() => void) | undefined
  /** Runs after success, for example to close a dialog or navigate. Not called `then`: that would be a promise. */
  after?: ((answer: Answer, input: Input) => void) | undefined
  /**
   * Set when the caller shows errors itself, next to what was typed. Otherwise errors appear as notifications, which
   * suits buttons without a form.
   */
  quiet?: boolean
}

export function useSend<Input = void, Answer = unknown>(sending: Sending<Input, Answer>) {
  const { send, of, changes, done, leave, after, quiet } = sending
  // Of what the form shows, even if the object is read again while it is open.
  const [version] = useState(() => versionOf(of))
  return useMutation<Answer, Problem, Input>({
    mutationFn: (input) => overwriting((options) => send(input, options), version),
    onSuccess: async (answer, input) => {
      if (leave) {
        leave()
        // Wait until the previous page is unmounted.
        await new Promise((resolve) => setTimeout(resolve))
      }
      await forget(changes)
      const message = done?.(answer, input)
      if (message !== undefined) notify(message)
      after?.(answer, input)
    },
    onError: (error) => {
      if (!quiet) tellProblem(asProblem(error))
    },
  })
}

export type CallOptions = ReturnType<typeof ifMatch>

/** Makes a change, or asks first if somebody else has changed the object meanwhile. */
async function overwriting<Answer>(
  call: (options: CallOptions) => Promise<Answer>,
  version: string | undefined,
): Promise<Answer> {
  try {
    return await call(ifMatch(version))
  } catch (error) {
    const change = error instanceof Problem && error.status === 412 ? error.changed : null
    if (change && (await asksToOverwrite(change))) return call({})
    throw error
  }
}

export const notify = (message: string) => notifications.show({ message, color: 'teal', autoClose: 5_000 })

/** Stays until closed, so that nobody misses a failure. */
export const tellProblem = ({ title, message, issues }: Problem) =>
  notifications.show({
    title,
    message: [message, ...issues.map((issue) => `${issue.pointer} ${issue.message}`)].join(' '),
    color: 'red',
    autoClose: false,
  })

/**
 * Shows validation issues at their fields and returns the text to show above the form for the rest.
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
