/** Thresholds on the command line: `--threshold 80=leads,billing,finance@example.com`. */
import { type Command, InvalidArgumentError } from 'commander'
import type { Threshold } from '../../features/budgets/schema.ts'
import type { Services } from '../../services.ts'
import { NONE } from '../flags/none.ts'

/** A threshold before it is known which of the addresses belong to people. */
interface Given {
  percent: number
  recipients: string[]
}

export interface ThresholdFlags {
  threshold?: Given[]
  forecastThreshold?: Given[]
}

/** Those who answer for the money, and for the work. */
const USUAL_RECIPIENTS = ['leads', 'billing']

const PERCENTS = { least: 1, most: 1_000 }

export function addThresholdFlags(command: Command): Command {
  return command
    .option(
      '--threshold <percent=recipients>',
      'spent percentage that causes an alert, and who is notified: leads, billing, e-mail addresses, ids of people and webhooks, or none (default leads,billing); repeatable; replaces all thresholds; none for no thresholds',
      collectThreshold,
    )
    .option(
      '--forecast-threshold <percent=recipients>',
      'the same for the forecast for the end of the period; repeatable',
      collectThreshold,
    )
}

export const THRESHOLD_HELP = `
A threshold causes one alert per period when it is reached. By default, a new budget has thresholds at 50, 80 and 100%
of what is spent, for leads (of the project or client) and everyone with the role billing.
`

/** Addresses contain no comma; a percentage alone notifies the usual recipients. */
function collectThreshold(text: string, before: Given[] = []): Given[] {
  if (text === NONE) return before
  const [, percentText, list] = /^(\d{1,4})%?(?:=(.*))?$/.exec(text.trim()) ?? []
  const percent = Number(percentText)
  if (percentText === undefined || percent < PERCENTS.least || percent > PERCENTS.most) {
    throw new InvalidArgumentError(
      `Use a percentage from ${PERCENTS.least} to ${PERCENTS.most}, and recipients after a =, such as 80=leads,finance@example.com.`,
    )
  }
  const recipients = list === undefined ? USUAL_RECIPIENTS : list.split(',').map((one) => one.trim())
  const wrong = recipients.find((one) => !isRecipient(one))
  if (wrong !== undefined || (recipients.includes(NONE) && recipients.length > 1)) {
    throw new InvalidArgumentError(
      `'${wrong ?? NONE}' cannot be notified. Use leads, billing, an e-mail address, a person (usr_…), a webhook (whk_…), or none alone.`,
    )
  }
  return [...before, { percent, recipients: recipients.filter((one) => one !== NONE) }]
}

function isRecipient(text: string): boolean {
  return ['leads', 'billing', NONE].includes(text) || text.includes('@') || /^(usr|whk)_/.test(text)
}

/** As the API reads them; undefined if neither flag is given. */
export async function thresholdsOf(
  { threshold, forecastThreshold }: ThresholdFlags,
  { people }: Pick<Services, 'people'>,
): Promise<Threshold[] | undefined> {
  if (!threshold && !forecastThreshold) return undefined
  const all = [
    ...(threshold ?? []).map((given) => ({ ...given, of: 'spent' as const })),
    ...(forecastThreshold ?? []).map((given) => ({ ...given, of: 'forecast' as const })),
  ]
  return Promise.all(
    all.map(async ({ percent, of, recipients }) => {
      const named = recipients.filter((one) => one !== 'leads' && one !== 'billing')
      const webhooks = named.filter((one) => one.startsWith('whk_'))
      const others = named.filter((one) => !one.startsWith('whk_'))
      // The address of a person stands for the person: their next address gets the alerts, and none once they leave.
      const isPerson = await Promise.all(
        others.map(async (one) => one.startsWith('usr_') || (await people.findUser(one)) !== undefined),
      )
      return {
        percent,
        of,
        leads: recipients.includes('leads'),
        billing: recipients.includes('billing'),
        people: others.filter((_, at) => isPerson[at]),
        emails: others.filter((_, at) => !isPerson[at]),
        webhooks,
      }
    }),
  )
}

/** `80% of spent: leads, finance@example.com`. */
export function thresholdText(
  { percent, of, leads, billing, people = [], emails = [], webhooks = [] }: Threshold,
  nameOf: (person: string) => string,
): string {
  const recipients = [
    ...(leads ? ['leads'] : []),
    ...(billing ? ['billing'] : []),
    ...people.map(nameOf),
    ...emails,
    ...webhooks,
  ]
  const what = of === 'forecast' ? `forecast of ${percent}%` : `${percent}%`
  return `${what}: ${recipients.join(', ') || 'notifies nobody'}`
}
