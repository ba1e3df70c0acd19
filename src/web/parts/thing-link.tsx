import { Anchor, type AnchorProps } from '@mantine/core'
import { Link } from 'wouter'
import { addressOfThing, type ThingKind } from './thing-address.ts'

interface ThingLinkProps extends AnchorProps {
  kind: ThingKind
  /** Its id, or its name where it has nothing else. */
  of: string
  children: string
}

/** The name of a thing as a link to its page. */
export const ThingLink = ({ kind, of, children, ...anchor }: ThingLinkProps) => (
  <Anchor component={Link} href={addressOfThing(kind, of)} size="sm" {...anchor}>
    <bdi>{children}</bdi>
  </Anchor>
)
