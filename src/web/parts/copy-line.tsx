import { ActionIcon, Code, CopyButton, Group, Tooltip } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'

/** A command or a secret with a button that copies it. */
export const CopyLine = ({ text, label = 'Copy' }: { text: string; label?: string }) => (
  <Group gap={4} wrap="nowrap" align="flex-start">
    <Code block flex={1} miw={0} style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }} tabIndex={0}>
      {text}
    </Code>
    <CopyButton value={text} timeout={2_000}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? 'Copied' : label}>
          <ActionIcon variant="subtle" color="gray" onClick={copy} aria-label={copied ? 'Copied' : label}>
            {copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
          </ActionIcon>
        </Tooltip>
      )}
    </CopyButton>
  </Group>
)
