import { Badge, ScrollArea, Tabs } from '@mantine/core'
import type { ReactNode } from 'react'
import { count } from '../format/counts.ts'

export interface SectionTab {
  value: string
  title: string
  /** How much there waits; nothing is shown for none. */
  waiting?: number | undefined
}

interface SectionTabsProps {
  label: string
  tabs: readonly SectionTab[]
  value: string
  change: (value: string) => void
  /** What the chosen tab shows. */
  children: ReactNode
}

/** The parts of a section, of which the address names one. */
export const SectionTabs = ({ label, tabs, value, change, children }: SectionTabsProps) => (
  <Tabs value={value} onChange={(chosen) => chosen && change(chosen)} keepMounted={false}>
    <ScrollArea type="never">
      <Tabs.List aria-label={label} style={{ flexWrap: 'nowrap' }}>
        {tabs.map(({ value, title, waiting }) => (
          <Tabs.Tab
            key={value}
            value={value}
            rightSection={
              waiting ? (
                <Badge size="sm" variant="light">
                  {count(waiting)}
                </Badge>
              ) : undefined
            }
          >
            {title}
          </Tabs.Tab>
        ))}
      </Tabs.List>
    </ScrollArea>
    <Tabs.Panel value={value} pt="md">
      {children}
    </Tabs.Panel>
  </Tabs>
)
