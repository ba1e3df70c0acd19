/** Sentences about recorded changes, with links to what they name, and what was recorded. */
import { Anchor, Code } from '@mantine/core'
import { Link } from 'wouter'
import { actorOf, sentenceOf } from '../../shared/change-sentences.ts'
import { type Formats, type Part, say } from '../../shared/sentences.ts'
import { count } from '../format/counts.ts'
import { dayAndTime, dayInWords } from '../format/moments.ts'
import { money } from '../format/money.ts'
import type { api, Body } from '../server/api.ts'
import { useSettings } from '../server/me.ts'
import classes from './sentence.module.css'
import { Caption } from './texts.tsx'
import { addressOfId, addressOfThing } from './thing-address.ts'

export type Change = Body<Awaited<ReturnType<typeof api.audit.get>>>['data'][number]

export function useFormats(): Formats {
  const { time_zone } = useSettings()
  return { money, count, day: dayInWords, moment: (at) => dayAndTime(at, time_zone) }
}

export const Sentence = ({ of }: { of: readonly Part[] }) => (
  <span className={classes.sentence}>
    {of.map((part, at) => {
      if (typeof part === 'string') return part
      const ofKey = part.isProject && addressOfThing('project', part.name)
      const href = part.id === undefined ? ofKey : addressOfId(part.id)
      const name = <bdi>{part.name}</bdi>
      // A sentence may name the same thing twice.
      const key = `${at} ${part.name}`
      if (href === undefined) return <span key={key}>{name}</span>
      return (
        <Anchor key={key} component={Link} href={href} inherit>
          {name}
        </Anchor>
      )
    })}
  </span>
)

/** “Priya changed the client of project WEB from ACME to Lumen”. */
export const ChangeSentence = ({ of: change }: { of: Change }) => (
  <Sentence of={say`${actorOf(change)} ${sentenceOf(change, useFormats())}`} />
)

/** What was recorded, behind “Details”. */
export const Recorded = ({ of }: { of: object }) => (
  <details>
    <Caption component="summary" className={classes.summary}>
      Details
    </Caption>
    <Code block className={classes.recorded}>
      {JSON.stringify(of, null, 2)}
    </Code>
  </details>
)
