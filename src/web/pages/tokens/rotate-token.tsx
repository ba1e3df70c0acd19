/** Replaces an API token by one with the same scopes, and shows it once. */
import { Rotation } from '../../parts/rotation.tsx'
import { TokenOnce } from '../../parts/token-once.tsx'
import { answer, api } from '../../server/api.ts'
import { useSend } from '../../server/send.ts'
import type { CreatedToken, Token } from '../../server/tokens.ts'

const OVERLAP = {
  label: 'The old token should',
  choices: {
    0: 'Stop working at once',
    1: 'Keep working for an hour',
    24: 'Keep working for a day',
    168: 'Keep working for a week',
  },
}

export function RotateToken({ token, close }: { token: Token; close: () => void }) {
  const rotate = useSend({
    send: (hours: number): Promise<CreatedToken> =>
      answer(api.tokens({ id: token.id }).rotate.post({ overlap_hours: hours })),
    changes: ['tokens', 'audit'],
    quiet: true,
  })
  return (
    <Rotation
      title={`Rotate “${token.name}”`}
      about="Creates a token with the same scopes, networks and lifetime."
      overlap={OVERLAP}
      action="Rotate token"
      rotate={rotate}
      once={(made) => <TokenOnce secret={made.token} />}
      close={close}
    />
  )
}
