/** The frame of every page: the menu, the account menu, the theme switch and keyboard shortcuts. */
import {
  ActionIcon,
  AppShell,
  Box,
  Burger,
  Group,
  Indicator,
  Kbd,
  Menu,
  Modal,
  NavLink,
  ScrollArea,
  Text,
  Tooltip,
  UnstyledButton,
  useMantineColorScheme,
  VisuallyHidden,
} from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconChevronDown, IconDeviceDesktop, IconKeyboard, IconMoon, IconSun } from '@tabler/icons-react'
import { type ReactNode, useEffect } from 'react'
import { Link, useLocation } from 'wouter'
import { counted, roughCount } from '../format/counts.ts'
import { cellColumn } from '../parts/columns.tsx'
import { figure } from '../parts/figure-link.tsx'
import { Overwrite } from '../parts/overwrite.tsx'
import { type PlainColumn, PlainTable } from '../parts/plain-table.tsx'
import { DeferredParts } from '../parts/when-near.tsx'
import { useInbox } from '../server/inbox.ts'
import { useLive } from '../server/live.ts'
import { signOut, useMe } from '../server/me.ts'
import { useSend } from '../server/send.ts'
import { DemoBadge, DemoBanner } from './demo-banner.tsx'
import { ACCOUNT_LINK, DOCUMENTATION, GROUPS, INBOX_PATH, isBelow, type Section, sectionsFor } from './navigation.ts'
import { showOpenCount, useWindowTitle } from './open-count.ts'
import { PaletteButton } from './palette/palette-button.tsx'
import { PreparingReports } from './preparing-reports.tsx'
import classes from './shell.module.css'
import { SHORTCUTS, useShortcuts } from './shortcuts.ts'

export function Shell({ children }: { children: ReactNode }) {
  const me = useMe()
  const [path] = useLocation()
  const [isMenuOpen, menu] = useDisclosure()
  const [isHelpOpen, help] = useDisclosure()
  const sections = sectionsFor(me)
  useShortcuts({ sections, help: help.open })
  useLive(me.person.role !== 'viewer')
  const here = sections.find((section) => isBelow(path, section.path))

  // On a phone, close the menu when a link in it opens another page.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is the change of page that closes the menu
  useEffect(() => menu.close(), [path])
  useWindowTitle(here?.title, me.settings.name)
  const open = useInbox(me.person.role !== 'viewer').data?.decisions ?? 0
  useEffect(() => showOpenCount(open), [open])
  // What waits for one person is not shown to the next.
  useEffect(() => () => showOpenCount(0), [])

  return (
    <AppShell
      header={{ height: 48 }}
      navbar={{ width: 208, breakpoint: 'sm', collapsed: { mobile: !isMenuOpen } }}
      padding={{ base: 'sm', sm: 'lg' }}
    >
      <a href="#content" className={`${classes.skip} tally-no-print`}>
        Skip to content
      </a>
      <AppShell.Header className="tally-no-print">
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="xs" wrap="nowrap" miw={0}>
            <Indicator
              label={roughCount(open)}
              disabled={open === 0 || isMenuOpen}
              size={16}
              offset={4}
              hiddenFrom="sm"
              styles={{ indicator: { color: 'var(--mantine-primary-color-contrast)' } }}
            >
              <Burger
                opened={isMenuOpen}
                onClick={menu.toggle}
                size="sm"
                aria-label={open > 0 ? `Menu, ${counted(open, 'item')} in the Inbox` : 'Menu'}
              />
            </Indicator>
            <img src="/assets/icon.svg" alt="" width={20} height={20} />
            <Text fw={650} truncate>
              {me.settings.name}
            </Text>
            <DemoBadge />
          </Group>
          <Group gap="xs" wrap="nowrap">
            {here?.hasReports && <PreparingReports />}
            <PaletteButton sections={sections} help={help.open} />
            <SchemeButton />
            <PersonMenu help={help.open} />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar className="tally-no-print" aria-label="Pages">
        <AppShell.Section grow component={ScrollArea} py="xs">
          {GROUPS.map((group) => {
            const members = sections.filter((section) => section.group === group)
            if (members.length === 0) return null
            return (
              <Box key={group} className={classes.group} role="group" aria-label={group}>
                <Text className={classes.heading}>{group}</Text>
                {members.map(({ path, title, icon: Icon, preload }) => (
                  <NavLink
                    key={path}
                    component={Link}
                    href={path}
                    label={title}
                    leftSection={<Icon size={17} stroke={1.6} />}
                    rightSection={path === INBOX_PATH && open > 0 ? <OpenCount open={open} /> : undefined}
                    active={here?.path === path}
                    aria-current={here?.path === path ? 'page' : undefined}
                    className={classes.link}
                    onPointerEnter={preload}
                    onFocus={preload}
                  />
                ))}
              </Box>
            )
          })}
        </AppShell.Section>
        <AppShell.Section className={classes.foot}>
          {me.person.role === 'viewer' ? (
            <NavLink
              component={Link}
              href={ACCOUNT_LINK.path}
              label={ACCOUNT_LINK.title}
              leftSection={<ACCOUNT_LINK.icon size={17} stroke={1.6} />}
              active={path === ACCOUNT_LINK.path}
              aria-current={path === ACCOUNT_LINK.path ? 'page' : undefined}
              className={classes.link}
            />
          ) : (
            DOCUMENTATION.map(({ path, title, icon: Icon }) => (
              <NavLink
                key={path}
                href={path}
                label={title}
                leftSection={<Icon size={17} stroke={1.6} />}
                className={classes.link}
              />
            ))
          )}
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1} className={classes.main}>
        <div className={classes.content}>
          <p className={`${classes.printedFor} tally-only-print`}>
            <bdi>{me.settings.name}</bdi>
          </p>
          <DemoBanner />
          <DeferredParts />
          {children}
        </div>
      </AppShell.Main>
      <Shortcuts isOpen={isHelpOpen} close={help.close} sections={sections} />
      <Overwrite />
    </AppShell>
  )
}

const OpenCount = ({ open }: { open: number }) => (
  <span className={classes.open} {...figure('waiting', open)}>
    {roughCount(open)}
    <VisuallyHidden> waiting for you</VisuallyHidden>
  </span>
)

const SCHEMES = {
  auto: { next: 'light', label: 'System', icon: IconDeviceDesktop },
  light: { next: 'dark', label: 'Light', icon: IconSun },
  dark: { next: 'auto', label: 'Dark', icon: IconMoon },
} as const

function SchemeButton() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const { next, label, icon: Icon } = SCHEMES[colorScheme]
  return (
    <Tooltip label={`Theme: ${label.toLowerCase()}`}>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={`Theme: ${label.toLowerCase()}. Switch to ${SCHEMES[next].label.toLowerCase()}`}
        onClick={() => setColorScheme(next)}
      >
        <Icon size={18} stroke={1.6} />
      </ActionIcon>
    </Tooltip>
  )
}

function PersonMenu({ help }: { help: () => void }) {
  const { person } = useMe()
  const leave = useSend({ send: () => signOut(), changes: [] })
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <UnstyledButton className={classes.person} aria-label={`${person.name}: account and sign out`}>
          <Text size="sm" truncate maw={160} visibleFrom="sm" dir="auto">
            {person.name}
          </Text>
          <Box hiddenFrom="sm" lh={0}>
            <ACCOUNT_LINK.icon size={20} stroke={1.6} />
          </Box>
          <IconChevronDown size={14} />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {person.email} · {person.role}
        </Menu.Label>
        <Menu.Item component={Link} href="/account">
          Your account
        </Menu.Item>
        <Menu.Item leftSection={<IconKeyboard size={16} />} onClick={help}>
          Keyboard shortcuts
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item onClick={() => leave.mutate()}>Sign out</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

interface ShortcutsProps {
  isOpen: boolean
  close: () => void
  sections: readonly Section[]
}

function Shortcuts({ isOpen, close, sections }: ShortcutsProps) {
  const lines: [string, string[]][] = [
    ...SHORTCUTS.map(({ keys, does }): [string, string[]] => [does, keys]),
    ...sections.map(({ title, key }): [string, string[]] => [`Go to ${title}`, ['g', key]]),
  ]
  return (
    <Modal opened={isOpen} onClose={close} title="Keyboard shortcuts">
      <PlainTable
        label="Keyboard shortcuts"
        columns={SHORTCUT_COLUMNS}
        rows={lines}
        rowKey={([does]) => does}
        isHeadHidden
      />
    </Modal>
  )
}

const SHORTCUT_COLUMNS: PlainColumn<[does: string, keys: string[]]>[] = [
  cellColumn('does', 'Action', {}, ([does]) => does),
  cellColumn('keys', 'Keys', { isNumber: true }, ([, keys]) =>
    keys.map((key) => (
      <Kbd key={key} ml={4}>
        {key}
      </Kbd>
    )),
  ),
]
