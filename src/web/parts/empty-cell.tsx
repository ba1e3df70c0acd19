import { Dimmed } from './texts.tsx'

/** An empty cell. On a phone, tables leave such lines out. */
export const EmptyCell = ({ children = '–' }: { children?: string }) => <Dimmed data-nothing>{children}</Dimmed>
