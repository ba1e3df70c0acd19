/** The text of an e-mail with one or more notifications. Pure. */

export interface Circumstances {
  organization: string
  /** What links begin with; undefined if no public URL is set. */
  publicUrl: string | undefined
  /** Whether the recipient has an account, and can choose what to be sent. */
  isPerson: boolean
}

interface Content {
  subject: string
  body: string
}

/** The page on which people choose what they are sent. */
export function choiceUrl(publicUrl: string): string {
  return `${publicUrl}/account#notifications`
}

/** @param contents at least one, the oldest first */
export function emailText(
  contents: readonly Content[],
  { organization, publicUrl, isPerson }: Circumstances,
): { subject: string; text: string } {
  const [first, ...others] = contents as [Content, ...Content[]]
  const parts =
    others.length === 0
      ? [first.body]
      : contents.map(({ subject, body }) => `${subject}\n${'-'.repeat(Math.min(subject.length, 72))}\n\n${body}`)
  return {
    subject: others.length === 0 ? first.subject : `${first.subject}, and ${others.length} more`,
    text: [...parts, footer({ organization, publicUrl, isPerson })].join('\n\n\n'),
  }
}

function footer({ organization, publicUrl, isPerson }: Circumstances): string {
  const sender = `Sent by Tally of ${organization}.`
  if (!isPerson) return `${sender} A budget names this address; ask ${organization} to remove it from the budget.`
  return publicUrl === undefined
    ? `${sender} You can choose what you are sent on the page of your account in Tally.`
    : `${sender} Choose what you are sent: ${choiceUrl(publicUrl)}`
}
