/** The actions of the palette. */
import { useMantineColorScheme } from '@mantine/core'
import { seesEverything, useMe } from '../../server/me.ts'
import type { Item } from './item.ts'

export function useActions({ help, leave }: { help: () => void; leave: () => void }): Item[] {
  const { person, settings } = useMe()
  const { setColorScheme } = useMantineColorScheme()
  const isStaff = person.role !== 'viewer'
  const bills = seesEverything(person.role)
  const page = (title: string, href: string): Item => ({ key: `action ${title}`, title, href })
  const action = (title: string, run: () => void): Item => ({ key: `action ${title}`, title, run })
  return [
    ...(bills ? [page('New bill', '/bills/new')] : []),
    ...(isStaff ? [page('Create token', '/tokens?create=true'), page('Connect an agent', '/connect')] : []),
    ...(bills ? [page('Load prices', '/prices/load')] : []),
    ...(person.role === 'admin' ? [page('Invite people', '/people'), page('Change settings', '/settings')] : []),
    ...(isStaff && settings.share_links ? [page('Review share links', '/share-links')] : []),
    action('Use light theme', () => setColorScheme('light')),
    action('Use dark theme', () => setColorScheme('dark')),
    action('Use the system’s theme', () => setColorScheme('auto')),
    action('Show keyboard shortcuts', help),
    { ...page('Open manual', '/docs/'), isOutside: true },
    ...(isStaff ? [{ ...page('Open API reference', '/docs/api'), isOutside: true }] : []),
    action('Sign out', leave),
  ]
}
