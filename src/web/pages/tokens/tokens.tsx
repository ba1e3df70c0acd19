/** The person's tokens, and the agents on their machines; for an admin, everyone's. */
import { Button, Group, Text } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { many, one, oneOf, useAddress } from '../../address.ts'
import { agoColumn, cellColumn, momentColumn, statusColumn } from '../../parts/columns.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { DownloadCsv } from '../../parts/download.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Ago, Moment } from '../../parts/figures.tsx'
import { Page } from '../../parts/page.tsx'
import { Rotation } from '../../parts/rotation.tsx'
import { SectionTabs } from '../../parts/section-tabs.tsx'
import { Segmented } from '../../parts/segmented.tsx'
import { useListOrder } from '../../parts/sorting.tsx'
import { Caption } from '../../parts/texts.tsx'
import { TokenOnce } from '../../parts/token-once.tsx'
import { Toolbar } from '../../parts/toolbar.tsx'
import { answer, api } from '../../server/api.ts'
import { useApiList } from '../../server/list.ts'
import { useMe, useRole } from '../../server/me.ts'
import { useSend } from '../../server/send.ts'
import type { CreatedToken, Token } from '../../server/tokens.ts'
import { Agents } from './agents.tsx'
import { NewToken } from './new-token.tsx'
import { Owner, OwnerFilter } from './owner.tsx'
import { Trusts } from './trusts.tsx'

/** One filter for all; each row shows the token's own state. */
const REFUSED = ['revoked', 'expired', 'stopped'] as const

/** The orders that the API knows. */
const SORTS = ['name', 'kind', 'user', 'last_used_at', 'created_at', 'expires_at'] as const

export default function Tokens() {
  const isAdmin = useRole('admin')
  const [{ tab, state, kind, user, create }, show] = useAddress({
    tab: oneOf('tokens', 'agents', 'trusts'),
    state: oneOf('usable', 'refused', 'any'),
    kind: many,
    user: one,
    create: one,
  })
  const [revoked, setRevoked] = useState<Token | null>(null)
  const [rotated, setRotated] = useState<Token | null>(null)
  const { person } = useMe()
  const query = {
    ...(state !== 'any' && { state: state === 'usable' ? ['usable'] : [...REFUSED] }),
    ...(kind.length > 0 && { kind }),
    ...(user && { user: [user] }),
  }
  const { sorting, query: ordered } = useListOrder(SORTS, { by: 'created_at', order: 'desc' })
  const list = useApiList(['tokens', 'list', query, ordered], (api, paging) =>
    api.tokens.get({ query: { ...query, ...ordered, ...paging } }),
  )
  const openNew = () => show({ create: 'true' })
  const closeNew = () => show({ create: undefined }, { replace: true })
  return (
    <Page
      title="Tokens"
      lead={
        isAdmin
          ? 'Agents and programs use tokens to call Tally. A token, and the entries it reports, belong to the person who created it.'
          : 'Your agents and programs use tokens to call Tally. The entries they report belong to you.'
      }
      actions={
        <>
          {tab === 'tokens' && <DownloadCsv path="/tokens" query={query} />}
          <Button leftSection={<IconPlus size={16} />} onClick={openNew}>
            {tab === 'trusts' ? 'New trust' : 'New token'}
          </Button>
        </>
      }
    >
      <SectionTabs
        label="Tokens"
        tabs={isAdmin ? [...TABS, TRUSTS_TAB] : TABS}
        value={tab}
        change={(chosen) => show({ tab: chosen as typeof tab, ...NO_FILTERS })}
      >
        {tab === 'agents' ? (
          <Agents />
        ) : tab === 'trusts' && isAdmin ? (
          <Trusts isAdding={create === 'true'} add={openNew} close={closeNew} />
        ) : (
          <>
            <Toolbar>
              <Segmented
                aria-label="State"
                value={state}
                choose={(state) => show({ state })}
                titles={{ usable: 'Active', refused: 'Inactive', any: 'All' }}
              />
              {isAdmin && <OwnerFilter user={user} choose={(chosen) => show({ user: chosen })} />}
            </Toolbar>
            <DataTable
              label="Tokens"
              name="tokens"
              columns={columnsOf(isAdmin, { ownId: person.id, revoke: setRevoked, rotate: setRotated })}
              list={list}
              sorting={sorting}
              rowKey={({ id }) => id}
              isMuted={(token) => token.state !== 'usable'}
              empty={<NoTokens state={state} openNew={openNew} />}
            />
          </>
        )}
      </SectionTabs>
      <NewToken isOpen={create === 'true' && tab !== 'trusts'} close={closeNew} />
      <RevokeToken token={revoked} close={() => setRevoked(null)} />
      {rotated && <RotateToken token={rotated} close={() => setRotated(null)} />}
    </Page>
  )
}

const TABS = [
  { value: 'tokens', title: 'Tokens' },
  { value: 'agents', title: 'Agents' },
] as const

/** For admins, as only they add trusts. */
const TRUSTS_TAB = { value: 'trusts', title: 'CI trusts' } as const

/** Of the other tab. */
const NO_FILTERS = { state: undefined, kind: undefined, user: undefined, unread: undefined } as object

function NoTokens({ state, openNew }: { state: string; openNew: () => void }) {
  if (state === 'refused')
    return (
      <Empty title="No inactive tokens">
        Tokens that were revoked, have expired or belong to a disabled person appear here.
      </Empty>
    )
  return (
    <Empty
      title="No tokens"
      action={
        <Group justify="center">
          <Button onClick={openNew}>New token</Button>
          <Button component={Link} href="/connect" variant="light">
            Connect an agent
          </Button>
        </Group>
      }
    >
      An agent needs a service token to report its usage. “Connect an agent” creates one and shows where to put it.
    </Empty>
  )
}

const KINDS: Record<Token['kind'], string> = { svc: 'Service', read: 'Read', org: 'Organization', api: 'API' }

interface RowActions {
  ownId: string
  revoke: (token: Token) => void
  rotate: (token: Token) => void
}

function columnsOf(isAdmin: boolean, { ownId, revoke, rotate }: RowActions): Column<Token>[] {
  return [
    cellColumn('name', 'Name', { sort: 'name', value: ({ name }) => name, phone: 'title' }, ({ name, hint, kind }) => (
      <>
        <bdi>{name}</bdi>
        <Caption ff="monospace" fw={400}>
          tally_{kind}_{hint}…
        </Caption>
      </>
    )),
    cellColumn(
      'kind',
      'Type',
      { sort: 'kind', value: ({ kind }) => kind, width: '120px' },
      ({ kind, allow_bills, scopes, networks }) => (
        <>
          {allow_bills ? `${KINDS[kind]}, bills` : KINDS[kind]}
          {scopes && (
            <Caption fw={400}>
              {[...scopes, ...(networks ?? []).map((network) => `from ${network}`)].join(', ')}
            </Caption>
          )}
        </>
      ),
    ),
    ...(isAdmin
      ? [
          cellColumn(
            'user',
            'Owner',
            { sort: 'user', value: ({ user }: Token) => user?.name, width: '140px' },
            ({ user }: Token) => <Owner user={user} />,
          ),
        ]
      : []),
    agoColumn('used', 'Last used', ({ last_used_at }) => last_used_at, { sort: 'last_used_at', width: '110px' }),
    momentColumn('made', 'Created', ({ created_at }) => created_at, {
      sort: 'created_at',
      width: '174px',
      phone: 'hidden',
    }),
    cellColumn(
      'expires',
      'Expires',
      { sort: 'expires_at', value: ({ expires_at }) => expires_at, width: '150px' },
      ({ expires_at }) => <Moment at={expires_at} otherwise="never" />,
    ),
    statusColumn('state', 'State', ({ state }) => state, { width: '90px', phone: 'value' }),
    cellColumn('revoke', 'Action', { phone: 'bare', width: '190px', isNumber: true }, (token) => (
      <Group gap={4} justify="flex-end" wrap="nowrap">
        {token.kind === 'api' && token.state === 'usable' && token.user.id === ownId && (
          <Button size="compact-xs" variant="default" onClick={() => rotate(token)} aria-label={`Rotate ${token.name}`}>
            Rotate…
          </Button>
        )}
        {token.revoked_at === null && (
          <Button
            size="compact-xs"
            variant="default"
            onClick={() => revoke(token)}
            aria-label={`Revoke ${token.name}${token.user ? ` of ${token.user.name}` : ''}`}
          >
            Revoke…
          </Button>
        )}
      </Group>
    )),
  ]
}

function RevokeToken({ token, close }: { token: Token | null; close: () => void }) {
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

/** Replaces an API token by one with the same scopes, and shows it once. */
const OVERLAP = {
  label: 'The old token should',
  choices: {
    0: 'Stop working at once',
    1: 'Keep working for an hour',
    24: 'Keep working for a day',
    168: 'Keep working for a week',
  },
}

function RotateToken({ token, close }: { token: Token; close: () => void }) {
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
