import { Badge, ScrollArea, Tabs } from '@mantine/core'
import { type ReactNode, useEffect, useRef } from 'react'
import { count } from '../format/counts.ts'
import { type Figure, figure } from './figure-link.tsx'

export interface SectionTab {
  value: string
  title: string
  /** The number of waiting items, which is the total of the list at `to`; hidden if 0. */
  waiting?: { figure: Figure; value: number; to: string } | undefined
}

interface SectionTabsProps {
  label: string
  tabs: readonly SectionTab[]
  value: string
  change: (value: string) => void
  /** The content of the chosen tab. */
  children: ReactNode
}

/** The tabs of a section; the URL names the chosen one. */
export function SectionTabs({ label, tabs, value, change, children }: SectionTabsProps) {
  const list = useRef<HTMLDivElement>(null)
  // On a phone the row of tabs is longer than the screen.
  useEffect(() => {
    list.current?.querySelector(`[data-tab="${value}"]`)?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [value])
  return (
    <Tabs value={value} onChange={(chosen) => chosen && change(chosen)} keepMounted={false}>
      <ScrollArea type="never">
        <Tabs.List ref={list} aria-label={label} style={{ flexWrap: 'nowrap' }}>
          {tabs.map((tab) => (
            <Tabs.Tab
              key={tab.value}
              value={tab.value}
              data-tab={tab.value}
              style={{ flexShrink: 0 }}
              rightSection={<WaitingCount of={tab} />}
            >
              {tab.title}
            </Tabs.Tab>
          ))}
        </Tabs.List>
      </ScrollArea>
      <Tabs.Panel value={value} pt="md">
        {children}
      </Tabs.Panel>
    </Tabs>
  )
}

const WaitingCount = ({ of: { waiting } }: { of: SectionTab }) =>
  waiting && waiting.value > 0 ? (
    <Badge styles={{ label: { overflow: 'visible' } }} {...figure(waiting.figure, waiting.value)} data-to={waiting.to}>
      {count(waiting.value)}
    </Badge>
  ) : null
