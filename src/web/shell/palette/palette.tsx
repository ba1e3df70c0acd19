/** The command palette: one field that finds pages, actions, and everything that has a name. */
import {
  Group as Line,
  Loader,
  Modal,
  ScrollArea,
  Text,
  TextInput,
  useMantineColorScheme,
  VisuallyHidden,
} from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type KeyboardEvent, type MouseEvent, useEffect, useId, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { addressOf } from '../../address.ts'
import { counted } from '../../format/counts.ts'
import { shortDay } from '../../format/moments.ts'
import { Caption } from '../../parts/texts.tsx'
import { answer, apiUntil } from '../../server/api.ts'
import { seesEverything, signOut, useMe } from '../../server/me.ts'
import { asProblem, type Problem } from '../../server/problem.ts'
import { noteRecent, readRecent } from '../../server/recent.ts'
import { useSend } from '../../server/send.ts'
import { groupsOf, type SearchAnswer } from './hits.ts'
import { type Group, type Item, matching } from './item.ts'
import classes from './palette.module.css'

interface PaletteProps {
  close: () => void
  sections: readonly { path: string; title: string }[]
  /** Shows the keyboard shortcuts. */
  help: () => void
}

/** Of pages and actions, next to what the server finds. */
const FEW = 5

export default function Palette({ close, sections, help }: PaletteProps) {
  const { person, settings } = useMe()
  const [, navigate] = useLocation()
  const [typed, type] = useState('')
  const [at, moveTo] = useState(0)
  const list = useRef<HTMLDivElement>(null)
  const id = useId()
  const leave = useSend({ send: () => signOut(), changes: [] })
  const actions = useActions({ help, leave: () => leave.mutate() })
  const pages = sections.map(({ path, title }): Item => ({ key: `page ${path}`, title, href: path }))
  const [recent] = useState(() => readRecent(person.id))
  const text = typed.trim()
  const { found, isPending, problem } = useSearch(text)
  const groups = text === '' ? suggestions({ recent, pages, actions }) : results()
  const items = groups.flatMap((group) => group.items)
  const current = Math.min(at, items.length - 1)
  const optionId = (index: number) => `${id}-${index}`

  // biome-ignore lint/correctness/useExhaustiveDependencies: another option, or others at its place
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' })
  }, [current, items[current]?.key])

  function results(): Group[] {
    const hits = found ? groupsOf(found.data, text) : []
    const everything: Item = {
      key: 'all entries',
      title: `Search all entries for “${text}”`,
      href: addressOf('/entries', { q: text }),
    }
    return [
      { title: 'Pages', items: matching(pages, text).slice(0, FEW) },
      { title: 'Actions', items: matching(actions, text).slice(0, FEW) },
      ...hits,
      { title: 'More', items: person.role === 'viewer' ? [] : [everything] },
    ].filter((group) => group.items.length > 0)
  }

  function choose(item: Item, isNewTab = false): void {
    const { href, run, isOutside } = item
    if (href !== undefined && !item.key.startsWith('action')) noteRecent(person.id, { ...item, href })
    if (isNewTab && href !== undefined) {
      window.open(href, '_blank', 'noopener')
      return
    }
    close()
    if (href === undefined) run?.()
    else if (isOutside) location.assign(href)
    else navigate(href)
  }

  function onKeyDown(event: KeyboardEvent<HTMLInputElement>): void {
    const last = items.length - 1
    const moves: Record<string, number> = {
      ArrowDown: current === last ? 0 : current + 1,
      ArrowUp: current <= 0 ? last : current - 1,
      PageDown: Math.min(last, current + FEW),
      PageUp: Math.max(0, current - FEW),
    }
    // Whoever composes a character presses Enter to accept it.
    if (event.nativeEvent.isComposing) return
    const next = moves[event.key]
    const item = items[current]
    if (next !== undefined) moveTo(next)
    else if (event.key === 'Enter' && item) choose(item, event.ctrlKey || event.metaKey)
    else return
    event.preventDefault()
  }

  let index = -1
  return (
    <Modal
      opened
      onClose={close}
      withCloseButton={false}
      centered={false}
      yOffset="10vh"
      size={640}
      padding={0}
      title="Search"
      classNames={{ header: classes.header }}
    >
      <TextInput
        data-autofocus
        size="md"
        variant="unstyled"
        className={classes.field}
        leftSection={<IconSearch size={18} />}
        rightSection={isPending && <Loader size="xs" type="dots" aria-hidden />}
        placeholder={person.role === 'viewer' ? 'Search pages and actions' : 'Search or jump to…'}
        aria-label="Search"
        role="combobox"
        aria-expanded
        aria-controls={id}
        aria-autocomplete="list"
        aria-activedescendant={items.length > 0 ? optionId(current) : undefined}
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onChange={({ currentTarget }) => {
          type(currentTarget.value)
          moveTo(0)
        }}
        onKeyDown={onKeyDown}
      />
      <ScrollArea.Autosize mah="60vh" className={classes.results} viewportProps={{ tabIndex: -1 }}>
        <div id={id} role="listbox" aria-label="Results" ref={list}>
          {groups.map(({ title, items }) => (
            // biome-ignore lint/a11y/useSemanticElements: a group of options is not a set of fields
            <div key={title} role="group" aria-label={title}>
              <Text className={classes.heading} aria-hidden>
                {title}
              </Text>
              {items.map((item) => {
                index += 1
                const position = index
                return (
                  <Option
                    key={item.key}
                    id={optionId(position)}
                    item={item}
                    isCurrent={position === current}
                    point={() => moveTo(position)}
                    choose={(event) => choose(item, event.ctrlKey || event.metaKey)}
                  />
                )
              })}
            </div>
          ))}
        </div>
        {problem && (
          <Text size="sm" c="red" role="alert" className={classes.note}>
            The search failed. {problem.message}
          </Text>
        )}
        {found?.searched_to && (
          <Caption className={classes.note}>
            Searched summaries back to {shortDay(found.searched_to, settings.time_zone)}.
          </Caption>
        )}
      </ScrollArea.Autosize>
      <VisuallyHidden role="status">
        {text !== '' && !isPending && found && counted(found.data.length, 'result', 'results')}
      </VisuallyHidden>
      <Line className={classes.foot} gap="md" visibleFrom="sm" aria-hidden>
        <span>↑↓ to move</span>
        <span>Enter to open</span>
        <span>Esc to close</span>
      </Line>
    </Modal>
  )
}

function suggestions({ recent, pages, actions }: Record<'recent' | 'pages' | 'actions', Item[]>): Group[] {
  const isRecent = new Set(recent.map(({ key }) => key))
  return [
    { title: 'Recent', items: recent },
    { title: 'Pages', items: pages.filter(({ key }) => !isRecent.has(key)) },
    { title: 'Actions', items: actions },
  ].filter(({ items }) => items.length > 0)
}

interface OptionProps {
  id: string
  item: Item
  isCurrent: boolean
  point: () => void
  choose: (event: MouseEvent) => void
}

const Option = ({ id, item: { title, detail, isMuted }, isCurrent, point, choose }: OptionProps) => (
  // The field keeps the focus and handles the keys.
  // biome-ignore lint/a11y/useFocusableInteractive: see above
  // biome-ignore lint/a11y/useKeyWithClickEvents: see above
  <div
    id={id}
    role="option"
    aria-selected={isCurrent}
    className={classes.option}
    data-muted={isMuted || undefined}
    onMouseMove={point}
    onMouseDown={(event) => event.preventDefault()}
    onClick={choose}
  >
    <bdi className={classes.title}>{title}</bdi>
    {detail && <bdi className={classes.detail}>{detail}</bdi>}
  </div>
)

/** The actions of the palette. */
function useActions({ help, leave }: { help: () => void; leave: () => void }): Item[] {
  const { person, settings } = useMe()
  const { setColorScheme } = useMantineColorScheme()
  const isStaff = person.role !== 'viewer'
  const bills = seesEverything(person.role)
  const page = (title: string, href: string): Item => ({ key: `action ${title}`, title, href })
  const action = (title: string, run: () => void): Item => ({ key: `action ${title}`, title, run })
  return [
    ...(bills ? [page('New bill', '/bills/new')] : []),
    ...(isStaff ? [page('New token', '/tokens?create=true'), page('Connect an agent', '/connect')] : []),
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

/** Between two keys of somebody who types on. */
const PAUSE_MS = 150

interface Search {
  found: SearchAnswer | undefined
  isPending: boolean
  problem: Problem | undefined
}

/** Asks the server what has a text, once for all that is typed without a pause. */
function useSearch(typed: string): Search {
  const { person } = useMe()
  const [text] = useDebouncedValue(typed, PAUSE_MS)
  const enabled = text !== '' && typed !== '' && person.role !== 'viewer'
  // The request of an earlier text is aborted: nothing waits for it anymore.
  const { data, error, isFetching } = useQuery({
    queryKey: ['search', text],
    queryFn: ({ signal }): Promise<SearchAnswer> => answer(apiUntil(signal).search.get({ query: { q: text } })),
    enabled,
    placeholderData: keepPreviousData,
  })
  if (!enabled) return { found: undefined, isPending: typed !== text && person.role !== 'viewer', problem: undefined }
  return {
    found: data,
    isPending: isFetching || typed !== text,
    problem: error ? asProblem(error) : undefined,
  }
}
