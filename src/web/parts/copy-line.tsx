import { ActionIcon, Code, Group, Stack, Tooltip } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { Caption } from './texts.tsx'

interface CopyLineProps {
  text: string
  label?: string
  /** Whether a person has just asked for it to be copied. */
  copiesAtOnce?: boolean
}

/** How long it says that it was copied. */
const SHOWN_MS = 2_000

/** A command or a secret with a button that copies it, or selects it where pages may not use the clipboard. */
export function CopyLine({ text, label = 'Copy', copiesAtOnce = false }: CopyLineProps) {
  const code = useRef<HTMLElement>(null)
  const [state, setState] = useState<'copied' | 'selected' | null>(null)
  const copy = async () => setState(await copied(text, code.current!))
  const copyNow = useEffectEvent(copy)
  useEffect(() => {
    if (copiesAtOnce) copyNow()
  }, [copiesAtOnce])
  useEffect(() => {
    if (state !== 'copied') return
    const timer = setTimeout(() => setState(null), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [state])
  const title = state === 'copied' ? 'Copied' : label
  return (
    <Stack gap={4}>
      <Group gap={4} wrap="nowrap" align="flex-start">
        <Code
          ref={code}
          block
          flex={1}
          miw={0}
          style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
          tabIndex={0}
        >
          {text}
        </Code>
        <Tooltip label={title}>
          <ActionIcon variant="subtle" color="gray" onClick={copy} aria-label={title}>
            {state === 'copied' ? <IconCheck size={16} /> : <IconCopy size={16} />}
          </ActionIcon>
        </Tooltip>
      </Group>
      {state === 'selected' && (
        <Caption role="status">
          The text is selected. Copy it with the keyboard: this browser does not let pages do it.
        </Caption>
      )}
    </Stack>
  )
}

/** Browsers offer the clipboard over TLS and on this machine only, and for a moment after a click. */
async function copied(text: string, element: HTMLElement): Promise<'copied' | 'selected'> {
  try {
    await navigator.clipboard.writeText(text)
    return 'copied'
  } catch {
    getSelection()?.selectAllChildren(element)
    return 'selected'
  }
}
