import type { ReactNode } from 'react'
import { CardTitle, Note } from '../../parts/texts.tsx'

interface PartProps {
  title: string
  lead?: string
  children: ReactNode
}

export const Part = ({ title, lead, children }: PartProps) => (
  <section>
    <CardTitle>{title}</CardTitle>
    {lead && <Note maw={720}>{lead}</Note>}
    {children}
  </section>
)
