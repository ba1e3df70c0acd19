/** Archiving, restoring and removing projects, clients and tickets. */
import { Text } from '@mantine/core'
import { Confirm } from '../../parts/confirm.tsx'
import { answer, api, type Settled } from '../../server/api.ts'
import { useSend } from '../../server/send.ts'

export type WorkPart = 'projects' | 'clients' | 'tickets'

interface WorkChangeProps {
  part: WorkPart
  id: string
  name: string
  isArchived: boolean
  isOpen: boolean
  close: () => void
}

const WORDS = { projects: 'project', clients: 'client', tickets: 'ticket' } as const

const ARCHIVING = {
  projects:
    'It goes out of lists. Reports that name it still arrive there, with a note, and its entries go on bills as before. Rules that place on it are skipped.',
  clients: 'It goes out of lists. Its projects go on, and are billed.',
  tickets: 'It goes out of lists. Reports that name it still arrive there.',
} as const

/** What is different once work has changed. */
const CHANGES = ['projects', 'clients', 'tickets', 'rules', 'me', 'audit'] as const

export function ArchiveWork({ part, id, name, isArchived, isOpen, close }: WorkChangeProps) {
  const change = useSend({
    send: () => answer<Settled>(isArchived ? api[part]({ id }).restore.post() : api[part]({ id }).archive.post()),
    changes: CHANGES,
    done: () => `${name} is ${isArchived ? 'restored' : 'archived'}.`,
    quiet: true,
  })
  return (
    <Confirm
      isOpen={isOpen}
      close={close}
      title={`${isArchived ? 'Restore' : 'Archive'} the ${WORDS[part]} ${name}?`}
      action={isArchived ? 'Restore' : 'Archive'}
      confirm={() => change.mutateAsync()}
    >
      <Text size="sm">{isArchived ? 'It is in lists and can be chosen again.' : ARCHIVING[part]}</Text>
    </Confirm>
  )
}

export function RemoveWork({ part, id, name, isOpen, close, removed }: WorkChangeProps & { removed: () => void }) {
  const remove = useSend({
    send: () => answer(api[part]({ id }).delete()),
    changes: CHANGES,
    done: () => `${name} is removed.`,
    leave: removed,
    quiet: true,
  })
  return (
    <Confirm
      isOpen={isOpen}
      close={close}
      title={`Remove the ${WORDS[part]} ${name}?`}
      action="Remove"
      isDangerous
      confirm={() => remove.mutateAsync()}
    >
      <Text size="sm">
        Only what nothing uses can be removed, such as one that was made by a slip. Archive it instead where entries,
        rules or bills know it.
      </Text>
    </Confirm>
  )
}
