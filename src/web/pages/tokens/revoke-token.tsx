import { Text } from '@mantine/core'
import { Confirm } from '../../parts/confirm.tsx'
import { Ago } from '../../parts/figures.tsx'
import { answer, api } from '../../server/api.ts'
import { useSend } from '../../server/send.ts'
import type { Token } from '../../server/tokens.ts'

export function RevokeToken({ token, close }: { token: Token | null; close: () => void }) {
  const revoke = useSend({
    send: (id: string) => answer(api.tokens({ id }).revoke.post()),
    changes: ['tokens', 'audit'],
    done: () => 'Token revoked.',
    quiet: true,
  })
  return (
    <Confirm
      isOpen={token !== null}
      close={close}
      title={`Revoke “${token?.name ?? ''}”?`}
      action="Revoke"
      isDangerous
      confirm={() => revoke.mutateAsync(token!.id)}
    >
      <Text size="sm">
        Requests that use it are rejected immediately. You can’t undo this.{' '}
        {token?.last_used_at ? (
          <>
            Last used <Ago at={token.last_used_at} />.
          </>
        ) : (
          'It has never been used.'
        )}
      </Text>
    </Confirm>
  )
}
