/** Archiving, restoring and removing projects, clients and tickets. */
import { Text } from '@mantine/core'
import { ConfirmChange } from '../../parts/confirm.tsx'
import { answer, api, type Settled } from '../../server/api.ts'

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
    'It no longer appears in lists. Reports that name it are still assigned to it, with a note, and its entries are billed as before. Rules that assign to it are skipped.',
  clients: 'It no longer appears in lists. Its projects stay active and are still billed.',
  tickets: 'It no longer appears in lists. Reports that name it are still assigned to it.',
} as const

/** Parts of the API that a change to work affects. */
const CHANGES = ['projects', 'clients', 'tickets', 'rules', 'me', 'audit'] as const

export function ArchiveWork({ part, id, name, isArchived, isOpen, close }: WorkChangeProps) {
  return (
    <ConfirmChange
      isOpen={isOpen}
      close={close}
      title={`${isArchived ? 'Restore' : 'Archive'} the ${WORDS[part]} ${name}?`}
      action={isArchived ? 'Restore' : 'Archive'}
      send={() => answer<Settled>(isArchived ? api[part]({ id }).restore.post() : api[part]({ id }).archive.post())}
      changes={CHANGES}
      done={() => `${name} ${isArchived ? 'restored' : 'archived'}.`}
    >
      <Text size="sm">{isArchived ? 'It appears in lists again and can be selected.' : ARCHIVING[part]}</Text>
    </ConfirmChange>
  )
}

export function RemoveWork({ part, id, name, isOpen, close, removed }: WorkChangeProps & { removed: () => void }) {
  return (
    <ConfirmChange
      isOpen={isOpen}
      close={close}
      title={`Remove the ${WORDS[part]} ${name}?`}
      action="Remove"
      isDangerous
      send={() => answer(api[part]({ id }).delete())}
      changes={CHANGES}
      done={() => `${name} removed.`}
      leave={removed}
    >
      <Text size="sm">
        You can only remove a {WORDS[part]} that is not in use, such as one created by mistake. If entries, rules or
        bills refer to it, archive it instead.
      </Text>
    </ConfirmChange>
  )
}
